#version 330 core
#ifdef CONSERVATIVE
#extension GL_ARB_conservative_depth : require
layout(depth_greater) out float gl_FragDepth;
#endif
#include "body.glsl"
in vec3 ray;
flat in vec3 from;
flat in vec3 size;
flat in vec4 turn;
flat in vec4 color;

const float NONE = 1e30;

float sphere(vec3 o, vec3 d, float r) {
    float b = -dot(o, d);
    vec3 miss = o + b * d;
    float h2 = r * r - dot(miss, miss);
    return h2 < 0.0 ? NONE : b - sqrt(h2);
}

float side(vec3 o, vec3 d, float r, float l) {
    // |o.xy + t d.xy| = r with |z| <= l
    float a = max(dot(d.xy, d.xy), 1e-12);
    float b = -dot(o.xy, d.xy) / a;
    vec2 miss = o.xy + b * d.xy;
    float h2 = r * r - dot(miss, miss);
    if (h2 < 0.0) return NONE;
    float t = b - sqrt(h2 / a);
    return abs(o.z + t * d.z) <= l ? t : NONE;
}

#ifdef CAPSULE
float hit(vec3 o, vec3 d, out vec3 n) {
    float t = side(o, d, size.x, size.y);
    t = min(t, min(sphere(o - vec3(0, 0, size.y), d, size.x), sphere(o + vec3(0, 0, size.y), d, size.x)));
    vec3 m = o + t * d;
    n = (m - vec3(0, 0, clamp(m.z, -size.y, size.y))) / size.x;
    return t;
}

float line(vec3 m, float pixel) {
    return clamp(1.2 - abs(abs(m.z) - size.y) / pixel, 0.0, 1.0);
}
#elif defined(ELLIPSOID)
float hit(vec3 o, vec3 d, out vec3 n) {
    // a unit ball where lengths are measured in semi-axes
    float stretch = length(d / size);
    float t = sphere(o / size, d / size / stretch, 1.0);
    if (t >= NONE) return NONE;
    t /= stretch;
    n = normalize((o + t * d) / (size * size));
    return t;
}

float line(vec3 m, float pixel) {
    return 0.0;
}
#else
float hit(vec3 o, vec3 d, out vec3 n) {
    float t = side(o, d, size.x, size.y);
    n = vec3((o.xy + t * d.xy) / size.x, 0.0);
    float cap = (-sign(d.z) * size.y - o.z) / (abs(d.z) < 1e-9 ? 1e-9 : d.z);
    vec2 m = o.xy + cap * d.xy;
    if (dot(m, m) <= size.x * size.x && cap < t) {
        t = cap;
        n = vec3(0, 0, -sign(d.z));
    }
    return t;
}

float line(vec3 m, float pixel) {
    vec2 from_rim = vec2(length(m.xy) - size.x, abs(m.z) - size.y);
    return clamp(1.3 - max(-from_rim.x, -from_rim.y) / pixel, 0.0, 1.0);
}
#endif

void main() {
    vec3 d = normalize(ray), n;
    float t = hit(from, d, n);
    if (t >= NONE || t < eye.w) discard;
    vec3 to = rotate(turn, t * d);
    gl_FragDepth = depth_of(to);
    vec3 m = from + t * d;
    float pixel = forward.w * t / max(-dot(n, d), 0.2);
    vec3 s = clamp(m / pixel, -1.0, 1.0);
#ifdef ELLIPSOID
    float tone = s.x * s.y * s.z;
#else
    float tone = s.x * s.y;
#endif
    float across = clamp(1.2 - min(abs(m.x), abs(m.y)) / pixel, 0.0, 1.0);
    float edge = max(line(m, pixel), horizon.w > 0.5 ? across : 0.0);
    vec3 albedo = pattern(color.rgb, tone, (m.x + m.z) / max(color.a, 1e-6), color.a, pixel / max(color.a, 1e-6));
    finish(albedo, rotate(turn, n), eye.xyz + to, edge);
}
