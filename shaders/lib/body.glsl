#include "light.glsl"
// How bodies look, whatever their shape.

uniform int pass_mode;  // 0 picture, 1 mask of the selected body

const float HATCHED = 1.0;

vec3 pattern(vec3 color, float tone, float hatch_at, float flags, float pixel) {
    // tone -1..1 mixes two shades of one colour; kinematic bodies carry a hatch, hatch_at in periods
    vec3 c = mix(color * 0.62, color, 0.5 + 0.5 * tone);
    if (flags > 0.5) {
        float w = abs(fract(hatch_at) - 0.5) - 0.25;
        c *= mix(1.0, 0.62, clamp(w / max(pixel, 1e-4) + 0.5, 0.0, 1.0));
    }
    return c;
}

vec4 finish(vec3 albedo, vec3 normal, vec3 p, float edge) {
    // the colour of a fragment; edge 0..1 is a line that is always seen
    vec3 line = albedo * 0.30;
    vec3 c = shade(albedo, normal, p);
    if (horizon.w < 0.5) return vec4(to_srgb(mix(c, line, edge * viewport.w)), 1.0);
    float rim = 1.0 - abs(dot(normalize(eye.xyz - p), normal));
    float fill = zenith.w * (0.6 + 0.9 * rim * rim);
    vec3 bright = mix(albedo, vec3(1.0), 0.15);
    return vec4(to_srgb(mix(c, bright, edge)), clamp(mix(fill, 0.9, edge), 0.0, 1.0));
}
