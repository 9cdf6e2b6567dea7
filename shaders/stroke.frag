#version 330 core
#include "overlay.glsl"
in vec2 at;
noperspective in float inverse_depth;
flat in float span;
flat in vec4 color;
flat in vec3 style;
out vec4 out_color;

float segment(vec2 p, float from, float to, float half_width) {
    return length(vec2(p.x - clamp(p.x, from, to), p.y)) - half_width;
}

float head(vec2 p, float tip, float size, float half_width) {
    // filled triangle that ends at tip
    float side = ((p.x - tip) * half_width + abs(p.y) * size) / length(vec2(half_width, size));
    return max(side, tip - size - p.x);
}

void main() {
    float w = style.x, kind = style.y, half_width = 0.5 * w;
    float size = min(3.6 * w, 0.75 * span + 0.5 * w), wide = 0.5 * size;
    float sdf;
    if (kind < 0.5) sdf = segment(at, 0.0, span, half_width);
    else if (kind < 1.5) sdf = min(segment(at, 0.0, max(span - size, 0.0), half_width), head(at, span, size, wide));
    else if (kind < 2.5) sdf = max(segment(at, 0.0, span, half_width), 1.6 * w - abs(mod(at.x, 6.0 * w) - 3.0 * w) );
    else if (kind < 3.5) {
        float outer = head(at, span, size, wide);
        sdf = min(segment(at, 0.0, max(span - size, 0.0), half_width), abs(outer + 0.35 * w) - 0.35 * w);
    } else if (kind < 4.5) {
        float shaft = max(segment(at, 0.0, max(span - size, 0.0), half_width),
                          0.9 * w - abs(mod(at.x, 5.0 * w) - 2.5 * w));
        sdf = min(shaft, head(at, span, size, wide));
    } else {
        sdf = min(segment(at, 0.0, max(span - size, 0.0), half_width), head(at, span, size, wide));
        sdf = min(sdf, head(at, span - 0.8 * size, size, wide));
    }
    out_color = glyph(sdf, color.rgb, color.a, style.z, 1.0 / inverse_depth);
}
