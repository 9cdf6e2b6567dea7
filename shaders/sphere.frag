#version 330 core
#ifdef CONSERVATIVE
#extension GL_ARB_conservative_depth : require
layout(depth_greater) out float gl_FragDepth;
#endif
#include "body.glsl"
in vec3 ray;
flat in vec3 centre;  // from the eye
flat in float radius;
flat in vec4 turn;
flat in vec4 color;

void main() {
    vec3 d = normalize(ray);
    float b = dot(centre, d);
    vec3 miss = b * d - centre;  // from the centre to the nearest point of the ray
    float h2 = radius * radius - dot(miss, miss);
    if (h2 < 0.0) discard;
    float t = b - sqrt(h2);
    if (t < eye.w) discard;
    gl_FragDepth = depth_of(t * d);
    vec3 n = (t * d - centre) / radius;
    vec3 m = unrotate(turn, n);
    float pixel = forward.w * t / radius / max(-dot(n, d), 0.15);
    vec3 s = clamp(m / pixel, -1.0, 1.0);
    vec3 line = clamp(1.2 - abs(m) / pixel, 0.0, 1.0);
    float edge = max(line.x, max(line.y, line.z)) * float(horizon.w > 0.5);
    vec3 albedo = pattern(color.rgb, s.x * s.y * s.z, m.z * radius / max(color.a, 1e-6), color.a, pixel * radius / max(color.a, 1e-6));
    finish(albedo, n, eye.xyz + t * d, edge);
}
