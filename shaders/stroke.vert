#version 330 core
// A line or arrow of a given width in pixels between two points.
#include "frame.glsl"
in vec2 in_corner;
in vec3 in_from;
in vec3 in_to;
in vec4 in_color;
in vec3 in_style;   // width [pixels], kind, fade
out vec2 at;                 // [pixels] along from the start, and across
noperspective out float inverse_depth;
flat out float span;         // length [pixels]
flat out vec4 color;
flat out vec3 style;

void main() {
    vec4 a = view_projection * vec4(in_from, 1.0), b = view_projection * vec4(in_to, 1.0);
    color = in_color;
    style = in_style;
    float nearest = 1.01 * eye.w;
    if (a.w < nearest && b.w < nearest) { gl_Position = vec4(2.0, 2.0, 2.0, 1.0); return; }
    if (a.w < nearest) a = mix(a, b, (nearest - a.w) / (b.w - a.w));
    if (b.w < nearest) b = mix(b, a, (nearest - b.w) / (a.w - b.w));
    vec2 pa = a.xy / a.w * 0.5 * viewport.xy, pb = b.xy / b.w * 0.5 * viewport.xy;
    span = length(pb - pa);
    vec2 along = span > 1e-4 ? (pb - pa) / span : vec2(0.0, 1.0);
    float reach = 2.6 * in_style.x + 2.5 * viewport.z;
    float s = in_corner.x < 0.0 ? -reach : span + reach;
    at = vec2(s, in_corner.y * reach);
    float share = clamp(s / max(span, 1e-4), -0.2, 1.2);
    inverse_depth = max(mix(1.0 / a.w, 1.0 / b.w, share), 1e-9);
    vec2 p = pa + along * s + vec2(-along.y, along.x) * at.y;
    gl_Position = vec4(p / (0.5 * viewport.xy), 0.0, 1.0);
}
