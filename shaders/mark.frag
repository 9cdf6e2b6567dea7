#version 330 core
#include "overlay.glsl"
in vec2 at;
flat in vec4 color;
flat in vec3 style;
flat in float seen_from;
out vec4 out_color;

float diamond(vec2 p, float r) { return (abs(p.x) + abs(p.y) - r) * 0.7071; }

void main() {
    float r = style.x, px = viewport.z, d = length(at), thick = 0.8 * px;
    vec3 c = color.rgb;
    float sdf;
    if (style.y < 0.5) sdf = abs(d - r) - thick;                                          // ring
    else if (style.y < 1.5) sdf = d - r;                                                  // disc
    else if (style.y < 2.5) sdf = max(d - r, 0.75 * px - abs(at.x + at.y) * 0.7071);      // split disc
    else if (style.y < 3.5) sdf = abs(diamond(at, r * 1.25)) - 0.7 * thick;               // diamond
    else if (style.y < 4.5) {                                                             // star
        float a = atan(at.y, at.x);
        float ray = abs(mod(a + 0.3927, 0.7854) - 0.3927) * d;
        float spoke = max(ray - mix(1.6, 0.4, d / r) * px, max(0.42 * r - d, d - r));
        sdf = min(spoke, abs(d - 0.30 * r) - thick);
    } else if (style.y < 5.5) {                                                           // checker
        sdf = d - r;
        float quarter = clamp(at.x, -1.0, 1.0) * clamp(at.y, -1.0, 1.0);
        c = mix(vec3(0.05), vec3(0.97), 0.5 + 0.5 * quarter);
    } else sdf = d - r;
    out_color = glyph(sdf, c, color.a, style.z, seen_from);
}
