#include "frame.glsl"
#include "shadow.glsl"

float sun_at(vec3 p, vec3 normal) {
    // 1 in the sun, 0 in shadow; looked up a little towards the light, so that no surface shadows itself
    float facing = dot(normal, light.xyz);
    vec3 raised = p + light.xyz * ground_light.w * (4.0 - 3.0 * clamp(facing, 0.0, 1.0));
    vec3 at = (light_matrix * vec4(raised, 1.0)).xyz;
    return facing > 0.0 ? max(sunlit(vec3(at.xy, min(at.z, 0.9999))), 1.0 - sky_light.w) : 0.0;
}

vec3 shade(vec3 albedo, vec3 normal, vec3 p, float sun) {
    // hemisphere light + sun + a small highlight
    vec3 view = normalize(eye.xyz - p);
    float shine = max(dot(normal, normalize(view + light.xyz)), 0.0);
    shine *= shine; shine *= shine; shine *= shine; shine *= shine; shine *= shine;  // ^32
    vec3 ambient = mix(ground_light.rgb, sky_light.rgb, 0.5 + 0.5 * normal.z);
    float direct = light.w * max(dot(normal, light.xyz), 0.0) * sun;
    float rim = 1.0 - max(dot(view, normal), 0.0);
    return albedo * (ambient + direct) + (0.10 * shine * sun + 0.05 * rim * rim * rim) * light.w;
}

vec3 with_edge(vec3 color, vec3 albedo, float edge) {
    return to_srgb(mix(color, 0.42 * albedo, edge * viewport.w));
}
