#include "frame.glsl"
#include "shadow.glsl"
const float BODY = 254.0 / 255.0;  // alpha that tells fxaa.frag bodies from floors and sky, whose lines are smooth already

float sun_at(vec3 at, vec3 normal) {
    // 1 in the sun, 0 in shadow, for a place in the shadow map; looked up a little nearer to the light, so that no
    // surface shadows itself
    float facing = dot(normal, light.xyz);
    float z = at.z - ground_light.w * (4.0 - 3.0 * clamp(facing, 0.0, 1.0));
    return facing > 0.0 ? max(sunlit(vec3(at.xy, min(z, 0.9999))), 1.0 - sky_light.w) : 0.0;
}

vec3 shade(vec3 albedo, vec3 normal, vec3 to_eye, float sun) {
    // hemisphere light + sun + a small highlight
#ifdef SOFTWARE
    vec3 view = -forward.xyz, between = halfway.xyz;  // as from far away: no roots
#else
    vec3 view = normalize(to_eye), between = normalize(view + light.xyz);
#endif
    float shine = max(dot(normal, between), 0.0);
    shine *= shine; shine *= shine; shine *= shine; shine *= shine; shine *= shine;  // ^32
    vec3 ambient = mix(ground_light.rgb, sky_light.rgb, 0.5 + 0.5 * normal.z);
    float direct = light.w * max(dot(normal, light.xyz), 0.0) * sun;
    float rim = 1.0 - max(dot(view, normal), 0.0);
    return albedo * (ambient + direct) + (0.10 * shine * sun + 0.05 * rim * rim * rim) * light.w;
}

vec3 with_edge(vec3 color, vec3 albedo, float edge) {
    return to_srgb(mix(color, 0.42 * albedo, edge * viewport.w));
}
