#version 330 core
#include "frame.glsl"
#include "glyph.glsl"
in vec2 at;
flat in vec4 color;
flat in float radius;
flat in int shape;  // 0 ring, 1 disc, 2 split disc, 3 and 4 these with a ring, 5 diamond, 6 star, 7 checker
out vec4 out_color;

void main() {
    float px = viewport.z, d = length(at), thick = 0.4 * px + 0.09 * radius;
    vec3 c = color.rgb;
    float sdf = d - radius;
    if (shape == 0) sdf = abs(sdf) - thick;
    if (shape == 2 || shape == 4) sdf = max(sdf, 0.9 * px - abs(at.x + at.y) * 0.7071);
    if (shape == 3 || shape == 4) sdf = min(sdf, abs(d - 1.62 * radius) - (0.3 * px + 0.1 * radius));
    if (shape == 5) sdf = abs((abs(at.x) + abs(at.y) - 1.25 * radius) * 0.7071) - 0.7 * thick;
    if (shape == 6) {
        // eight spokes, folded into one eighth of the plane
        vec2 q = abs(at);
        q = vec2(max(q.x, q.y), min(q.x, q.y));
        float ray = min(q.y, (q.x - q.y) * 0.7071);
        sdf = min(max(ray - mix(1.7, 0.5, d / radius) * px, max(0.45 * radius - d, sdf)), abs(d - 0.3 * radius) - thick);
    }
    if (shape == 7) c = vec3(0.5 + 0.46 * clamp(at.x, -1.0, 1.0) * clamp(at.y, -1.0, 1.0));
    out_color = glyph(sdf, c, color.a);
}
