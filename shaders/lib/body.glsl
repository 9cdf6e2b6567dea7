#include "light.glsl"
// How bodies look, whatever their shape.
out vec4 out_color;

vec3 pattern(vec3 color, float tone, float hatch_at, float hatched, float pixel) {
    // tone -1..1 mixes two shades of one colour; kinematic bodies, hatched > 0, carry stripes, hatch_at in periods
    float w = (abs(fract(hatch_at) - 0.5) - 0.25) / max(pixel, 1e-4);
    return color * (0.81 + 0.19 * tone) * (1.0 - 0.38 * step(1e-9, hatched) * clamp(w + 0.5, 0.0, 1.0));
}

void finish(vec3 albedo, vec3 normal, vec3 p, float edge) {
    // write a fragment; edge 0..1 is a line that is always seen
#if defined(MASK)
    out_color = vec4(1.0);
#elif defined(SEE_THROUGH)
    vec3 c = shade(albedo, normal, eye.xyz - p, sun_at((light_matrix * vec4(p, 1.0)).xyz, normal));
    float rim = 1.0 - abs(dot(normalize(eye.xyz - p), normal));
    float fill = zenith.w * (0.6 + 0.9 * rim * rim);
    out_color = vec4(to_srgb(mix(c, mix(albedo, vec3(1.0), 0.15), edge)), clamp(mix(fill, 0.9, edge), 0.0, 1.0));
#else
    float sun = sun_at((light_matrix * vec4(p, 1.0)).xyz, normal);
    out_color = vec4(with_edge(shade(albedo, normal, eye.xyz - p, sun), albedo, edge), BODY);
#endif
}
