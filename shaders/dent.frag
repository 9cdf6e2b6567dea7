#version 330 core
#include "frame.glsl"
uniform vec3 halo;
in float part;
in vec3 upward;
in float opacity;
flat in vec4 color;
out vec4 out_color;

void main() {
    // lit as bodies are, darker towards the bottom, with two rings to show the curve and a rim
    float lit = 0.62 + 0.38 * clamp(dot(normalize(upward), light.xyz), 0.0, 1.0);
    float deep = 1.0 - part * part;
    vec3 c = mix(color.rgb * lit, halo, 0.38 * deep * deep);
    float pen = max(fwidth(part), 1e-4);
    float ring = min(abs(part - 0.45), abs(part - 0.75));
    c = mix(c, halo, 0.55 * clamp(1.2 - ring / pen, 0.0, 1.0));
    float rim = clamp((part - 1.0) / pen + 2.2, 0.0, 1.0);
    c = mix(c, color.rgb * 1.08, rim);
    out_color = vec4(c, opacity * mix(0.85, 1.0, rim));
}
