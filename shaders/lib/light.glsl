#include "frame.glsl"
uniform sampler2DShadow shadow_map;

float sunlit(vec3 p, float facing) {
    // 1 in the light, 0 in shadow; percentage-closer filtering over a few texels
    float slope = clamp(1.0 - facing, 0.0, 1.0);
    vec3 at = (light_matrix * vec4(p + light.xyz * ground_light.w * (0.8 + 2.5 * slope), 1.0)).xyz;
    if (any(lessThan(at.xy, vec2(0.0))) || any(greaterThan(at.xy, vec2(1.0)))) return 1.0;
#ifdef SOFTWARE
    vec2 texel = 0.75 / vec2(textureSize(shadow_map, 0));
    return 0.25 * (texture(shadow_map, vec3(at.xy + texel * vec2(-1.0, -0.4), at.z))
                 + texture(shadow_map, vec3(at.xy + texel * vec2(0.4, -1.0), at.z))
                 + texture(shadow_map, vec3(at.xy + texel * vec2(1.0, 0.4), at.z))
                 + texture(shadow_map, vec3(at.xy + texel * vec2(-0.4, 1.0), at.z)));
#else
    vec2 texel = 1.25 / vec2(textureSize(shadow_map, 0));
    float sum = 0.0;
    for (int i = -2; i <= 2; ++i)
        for (int j = -2; j <= 2; ++j) sum += texture(shadow_map, vec3(at.xy + texel * vec2(i, j), at.z));
    return sum / 25.0;
#endif
}

vec3 shade(vec3 albedo, vec3 normal, vec3 p) {
    // hemisphere light + sun + a small highlight
    float facing = dot(normal, light.xyz);
    float lit = 0.0;
    if (facing > 0.0) lit = sky_light.w > 0.0 ? sunlit(p, facing) : 1.0;
    vec3 view = normalize(eye.xyz - p);
    float shine = max(dot(normal, normalize(view + light.xyz)), 0.0);
    shine *= shine; shine *= shine; shine *= shine; shine *= shine; shine *= shine;  // ^32
    vec3 ambient = mix(ground_light.rgb, sky_light.rgb, 0.5 + 0.5 * normal.z);
    float sun = light.w * max(facing, 0.0) * lit;
    float rim = 1.0 - max(dot(view, normal), 0.0);
    return albedo * (ambient + sun) + (0.10 * shine * lit + 0.05 * rim * rim * rim) * light.w;
}
