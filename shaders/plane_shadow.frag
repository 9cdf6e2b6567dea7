#version 330 core
// Darkens the plane by multiplication.
#include "frame.glsl"
#include "shadow.glsl"
uniform vec3 darkness;  // shadowed over lit colour
uniform float reach;    // of the haze [m]
in vec3 at;
out vec4 out_color;

void main() {
    float x = 1.0 / (gl_FragCoord.w * reach);
    vec2 edge = abs(at.xy - 0.5);
    float fade = clamp((0.498 - max(edge.x, edge.y)) * 40.0, 0.0, 1.0) / (1.0 + 3.0 * x * x);
    out_color = vec4(mix(vec3(1.0), darkness, fade * (1.0 - sunlit_softly(vec3(at.xy, min(at.z, 0.9999))))), 1.0);
}
