#version 330 core
// A line around the mask of the selected body, with a halo on either side that parts it from any colour.
uniform sampler2D mask;
uniform vec3 line_color;
uniform vec3 halo;
uniform float width;  // [pixels]
out vec4 out_color;

void main() {
    vec2 at = gl_FragCoord.xy;
    float here = texelFetch(mask, ivec2(at), 0).r;
    vec2 texel = 1.0 / vec2(textureSize(mask, 0));
    float line = 0.0, around = 0.0;
    for (int i = 0; i < 12; ++i) {
        vec2 to = texel * width * vec2(cos(0.5236 * float(i)), sin(0.5236 * float(i)));
        line = max(line, texture(mask, texel * at + to).r);
        around = max(around, texture(mask, texel * at + 1.6 * to).r);
    }
    float alpha = max(line, 0.8 * around) * (1.0 - here);
    if (alpha < 0.01) discard;
    out_color = vec4(mix(halo, line_color, line), alpha);
}
