#version 330 core
// A dent: a bowl below the plane across its normal, 1 - s² of its depth deep at the part s of its radius.
#include "overlay.glsl"
in vec2 in_corner;  // s, angle
in vec3 in_place;   // middle of the rim
in vec3 in_normal;  // unit, into the body that gives way
in vec4 in_color;
in vec3 in_style;   // radius [m], depth [m], fade
out float part;
out vec3 upward;    // normal of the bowl, out of the body
out float opacity;  // what is hidden is looked up at the corners only: to a processor textures cost most
flat out vec4 color;

void main() {
    vec3 n = in_normal, across = normalize(abs(n.z) < 0.7 ? cross(n, vec3(0.0, 0.0, 1.0)) : cross(n, vec3(1.0, 0.0, 0.0)));
    vec3 outward = across * cos(in_corner.y) + cross(n, across) * sin(in_corner.y);
    float s = in_corner.x, radius = max(in_style.x, 1e-6), rest = 1.0 - s * s;
    vec3 rim = in_place + radius * s * outward;
    float slope = 2.0 * in_style.y / radius * s;  // of the bowl's side
    part = s;
    upward = normalize(-n - slope * outward);
    color = in_color;
    vec4 clip = view_projection * vec4(rim, 1.0);
    vec2 pixel = clamp((0.5 + 0.5 * clip.xy / clip.w) * viewport.xy, vec2(0.0), viewport.xy - 1.0);
    opacity = in_color.a * mix(1.0, in_style.z, hidden(pixel + corner.xy, clip.w));
    vec4 place = view_projection * vec4(rim + in_style.y * rest * n, 1.0);
    gl_Position = clip.w <= eye.w ? vec4(2.0, 2.0, 2.0, 1.0) : vec4(place.xy / place.w, 0.0, 1.0);
}
