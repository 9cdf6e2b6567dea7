#version 330 core
#include "frame.glsl"
uniform mat3 unproject;  // window (x, y, 1) -> direction from the eye
out vec4 out_color;

void main() {
    vec3 d = normalize(unproject * vec3(gl_FragCoord.xy, 1.0));
    float up = clamp(abs(d.z) * 1.6, 0.0, 1.0);
    float grain = fract(sin(dot(gl_FragCoord.xy, vec2(12.9898, 78.233))) * 43758.5453) - 0.5;  // against banding
    out_color = vec4(to_srgb(mix(horizon.rgb, zenith.rgb, up * (2.0 - up))) + grain / 255.0, 1.0);
}
