#include "frame.glsl"
#include "shadow.glsl"

vec3 shade(vec3 albedo, vec3 normal, vec3 p) {
    // hemisphere light + sun + a small highlight
    float facing = dot(normal, light.xyz);
    float slope = clamp(1.0 - facing, 0.0, 1.0);
    vec3 at = (light_matrix * vec4(p + light.xyz * ground_light.w * (1.0 + 3.0 * slope), 1.0)).xyz;
    float lit = facing > 0.0 ? max(sunlit(vec3(at.xy, min(at.z, 0.9999))), 1.0 - sky_light.w) : 0.0;
    vec3 view = normalize(eye.xyz - p);
    float shine = max(dot(normal, normalize(view + light.xyz)), 0.0);
    shine *= shine; shine *= shine; shine *= shine; shine *= shine; shine *= shine;  // ^32
    vec3 ambient = mix(ground_light.rgb, sky_light.rgb, 0.5 + 0.5 * normal.z);
    float sun = light.w * max(facing, 0.0) * lit;
    float rim = 1.0 - max(dot(view, normal), 0.0);
    return albedo * (ambient + sun) + (0.10 * shine * lit + 0.05 * rim * rim * rim) * light.w;
}
