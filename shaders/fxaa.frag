#version 330 core
// Smooths staircase edges on machines without multisampling: blends along the edge that the brightness of the
// neighbours shows [after T. Lottes, FXAA, NVIDIA 2009]. Single texels only: they cost a processor least.
uniform sampler2D picture;
out vec4 out_color;

float luma(vec3 c) { return dot(c, vec3(0.299, 0.587, 0.114)); }

vec4 at(vec2 p) { return texelFetch(picture, min(ivec2(max(p, 0.0)), textureSize(picture, 0) - 1), 0); }

void main() {
    vec2 p = gl_FragCoord.xy;
    vec4 middle = at(p), nw = at(p + vec2(-1, 1)), ne = at(p + 1.0), sw = at(p - 1.0), se = at(p + vec2(1, -1));
    bool body = min(middle.a, min(min(nw.a, ne.a), min(sw.a, se.a))) < 0.999;  // see light.glsl
    float m = luma(middle.rgb), a = luma(nw.rgb), b = luma(ne.rgb), c = luma(sw.rgb), d = luma(se.rgb);
    float lo = min(m, min(min(a, b), min(c, d))), hi = max(m, max(max(a, b), max(c, d)));
    vec2 along = vec2((a + b) - (c + d), (a + c) - (b + d));
    along = clamp(along / (min(abs(along.x), abs(along.y)) + 1.0 / 64.0), -3.0, 3.0);
    vec3 wide = (2.0 * middle.rgb + at(p + along).rgb + at(p - along).rgb) * 0.25;
    float l = luma(wide);
    vec3 smooth_color = l < lo || l > hi ? middle.rgb : wide;
    out_color = vec4(!body || hi - lo < max(0.04, 0.1 * hi) ? middle.rgb : smooth_color, 1.0);
}
