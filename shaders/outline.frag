#version 330 core
// A line around the mask of the selected body.
uniform sampler2D mask;
uniform vec3 line_color;
uniform float width;  // [pixels]
out vec4 out_color;

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    float here = texelFetch(mask, at, 0).r;
    vec2 texel = 1.0 / vec2(textureSize(mask, 0));
    vec2 uv = gl_FragCoord.xy * texel;
    float around = 0.0;
    for (int i = 0; i < 12; ++i) {
        float a = 0.5236 * float(i);
        around = max(around, texture(mask, uv + texel * width * vec2(cos(a), sin(a))).r);
    }
    float alpha = around * (1.0 - here);
    if (alpha < 0.01) discard;
    out_color = vec4(line_color, alpha);
}
