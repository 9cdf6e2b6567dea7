#version 330 core
// Smooths staircase edges: blends along the local edge direction, as found from the brightness of the neighbours.
// [T. Lottes, FXAA, NVIDIA 2009; the short form with four corner and four directional taps]
uniform sampler2D picture;
in vec2 uv;
out vec4 out_color;

const float THRESHOLD = 0.04;
const float REACH = 6.0;

float luma(vec3 c) { return dot(c, vec3(0.299, 0.587, 0.114)); }

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    vec3 middle = texelFetch(picture, at, 0).rgb;
    float m = luma(middle);
    float nw = luma(texelFetch(picture, at + ivec2(-1, 1), 0).rgb);
    float ne = luma(texelFetch(picture, at + ivec2(1, 1), 0).rgb);
    float sw = luma(texelFetch(picture, at + ivec2(-1, -1), 0).rgb);
    float se = luma(texelFetch(picture, at + ivec2(1, -1), 0).rgb);
    float lo = min(m, min(min(nw, ne), min(sw, se))), hi = max(m, max(max(nw, ne), max(sw, se)));
    if (hi - lo < max(THRESHOLD, 0.1 * hi)) { out_color = vec4(middle, 1.0); return; }
    vec2 dir = vec2((nw + ne) - (sw + se), (nw + sw) - (ne + se));
    float least = max((nw + ne + sw + se) * 0.03125, 1.0 / 128.0);
    dir = clamp(dir / (min(abs(dir.x), abs(dir.y)) + least), -REACH, REACH) / vec2(textureSize(picture, 0));
    vec3 a = 0.5 * (texture(picture, uv + dir * (1.0 / 3.0 - 0.5)).rgb + texture(picture, uv + dir * (2.0 / 3.0 - 0.5)).rgb);
    vec3 b = 0.5 * a + 0.25 * (texture(picture, uv - 0.5 * dir).rgb + texture(picture, uv + 0.5 * dir).rgb);
    float l = luma(b);
    out_color = vec4(l < lo || l > hi ? a : b, 1.0);
}
