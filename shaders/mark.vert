#version 330 core
// A contact mark: a square of a given size in pixels around a point.
#include "overlay.glsl"
in vec2 in_corner;
in vec3 in_place;
in vec4 in_color;
in vec3 in_style;   // radius [pixels], shape (see overlays.py), fade
out vec2 at;        // [pixels] from the middle
flat out vec4 color;
flat out float radius;
flat out int shape;

void main() {
    vec4 clip = view_projection * vec4(in_place, 1.0);
    radius = in_style.x;
    shape = int(in_style.y + 0.5);
    bool ringed = shape == 3 || shape == 4;
    at = in_corner * (radius + 2.0 * viewport.z + (ringed ? 0.75 * radius + 0.6 * viewport.z : 0.0) + (shape == 5 ? 0.3 * radius : 0.0));
    vec2 middle = clip.xy / clip.w;
    vec2 pixel = clamp((0.5 + 0.5 * middle) * viewport.xy, vec2(0.0), viewport.xy - 1.0);
    color = vec4(in_color.rgb, in_color.a * mix(1.0, in_style.z, hidden(pixel + corner.xy, clip.w)));
    gl_Position = clip.w <= eye.w ? vec4(2.0, 2.0, 2.0, 1.0) : vec4(middle + 2.0 * at / viewport.xy, 0.0, 1.0);
}
