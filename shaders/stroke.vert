#version 330 core
// A line or arrow of a given width in pixels between two points: a strip of triangles, or a wide GL line and a triangle.
#include "overlay.glsl"
in vec2 in_corner;  // station along the stroke: 0 start, 1 and 2 end of the shaft (2 as wide as the head), 3 tip; side
in vec3 in_from;
in vec3 in_to;
in vec4 in_color;
in vec3 in_style;   // width [pixels], kind (see overlays.py), fade
flat out vec4 axis;           // start [pixels], direction
#ifdef SOFTWARE
out float opacity;            // what is hidden is looked up at both ends only: to a processor textures cost most
#else
flat out vec2 near;           // 1 / distance along the view [1/m] at the start, and its slope [1/m/pixel]
flat out float fade;
#endif
flat out vec4 shaft;          // length, half width, period of dashes, half gap [pixels]
flat out vec4 head;           // tip, slope of the sides (x, y), thickness of the outline [pixels]
flat out vec4 color;

void main() {
    vec4 a = view_projection * vec4(in_from, 1.0), b = view_projection * vec4(in_to, 1.0);
    float nearest = 1.01 * eye.w;
    color = in_color;
    if (a.w < nearest && b.w < nearest) { gl_Position = vec4(2.0, 2.0, 2.0, 1.0); return; }
    if (a.w < nearest) a = mix(a, b, (nearest - a.w) / (b.w - a.w));
    if (b.w < nearest) b = mix(b, a, (nearest - b.w) / (a.w - b.w));
    vec2 pa = a.xy / a.w * 0.5 * viewport.xy, pb = b.xy / b.w * 0.5 * viewport.xy;
    float span = length(pb - pa), w = in_style.x;
    vec2 along = span > 1e-4 ? (pb - pa) / span : vec2(0.0, 1.0);
    axis = vec4(pa + 0.5 * viewport.xy + corner.xy, along);
    int kind = int(in_style.y + 0.5);  // 0 line, 1 arrow, 2 dashed, 3 open arrow, 4 dashed arrow
    bool headless = kind == 0 || kind == 2;
    float size = headless ? 0.0 : min(3.6 * w, 0.75 * span + 0.5 * w);
    shaft = vec4(max(span - size, 0.0), 0.5 * w, kind == 2 || kind == 4 ? 5.0 * w : 1e6, kind == 2 || kind == 4 ? w : -1e6);
    head = vec4(headless ? -1e6 : span, vec2(0.5, 1.0) / 1.118, kind == 3 ? 0.7 * w : 1e6);
    float rim = 1.8 * viewport.z;
#ifdef HEAD
    if (headless) { gl_Position = vec4(2.0, 2.0, 2.0, 1.0); return; }
    // the head's triangle, wider by the rim: 1 / sin of half its angle is 2.236
    float s = in_corner.x < 2.5 ? span - size - rim : span + 2.236 * rim, reach = 0.5 * (size + 3.236 * rim);
#else
    // GL lines end along rows or columns of pixels: up to as much askew as they are wide
    float askew = min(abs(along.x), abs(along.y)) / max(abs(along.x), abs(along.y)) * (0.5 * w + rim);
    float start = -0.5 * w - rim - askew, neck = max(span - size - rim - askew, start);
    float s = in_corner.x < 0.5 ? start : in_corner.x < 2.5 ? (headless ? span : neck) : span + 0.5 * w + rim + askew;
    float reach = 0.5 * (in_corner.x < 1.5 || headless ? w : max(w, size)) + rim;  // no wider than what is there to paint
#endif
#ifdef SOFTWARE
    vec4 end = in_corner.x < 0.5 ? a : b;
    vec2 pixel = clamp((0.5 + 0.5 * end.xy / end.w) * viewport.xy, vec2(0.0), viewport.xy - 1.0);
    opacity = color.a * mix(1.0, in_style.z, hidden(pixel + corner.xy, end.w));
#else
    near = vec2(1.0 / a.w, (1.0 / b.w - 1.0 / a.w) / max(span, 1e-4));
    fade = in_style.z;
#endif
    vec2 p = pa + along * s + vec2(-along.y, along.x) * in_corner.y * reach;
    gl_Position = vec4(p / (0.5 * viewport.xy), 0.0, 1.0);
}
