// How much of the sun reaches a point, 0..1, by percentage-closer filtering of the shadow map.
#ifdef SOFTWARE
uniform sampler2D shadow_map;  // single texels cost a processor a third of a filtered sample

float in_light(ivec2 c, float z) { return step(z, texelFetch(shadow_map, c, 0).r); }

float sunlit(vec3 at) {
    vec2 p = clamp(at.xy, 0.002, 0.998) * vec2(textureSize(shadow_map, 0)) - 0.5;
    ivec2 c = ivec2(p);
    vec2 f = p - vec2(c);
    vec2 row = mix(vec2(in_light(c, at.z), in_light(c + ivec2(0, 1), at.z)),
                   vec2(in_light(c + ivec2(1, 0), at.z), in_light(c + ivec2(1, 1), at.z)), f.x);
    return mix(row.x, row.y, f.y);
}

float sunlit_softly(vec3 at) {
    // quadratic weights over 3 x 3 texels
    vec2 p = at.xy * vec2(textureSize(shadow_map, 0)) - 0.5;
    ivec2 c = ivec2(p + 0.5);
    vec2 r = p - vec2(c), v = 0.5 - r, u = 0.5 + r;
    vec2 w0 = 0.5 * v * v, w1 = 0.75 - r * r, w2 = 0.5 * u * u;
    vec3 wx = vec3(w0.x, w1.x, w2.x), sum = vec3(0.0);
    for (int j = 0; j < 3; ++j) {
        ivec2 k = c + ivec2(0, j - 1);
        vec3 lit = vec3(in_light(k - ivec2(1, 0), at.z), in_light(k, at.z), in_light(k + ivec2(1, 0), at.z));
        sum[j] = dot(wx, lit);
    }
    return dot(vec3(w0.y, w1.y, w2.y), sum);
}
#else
uniform sampler2DShadow shadow_map;

float sunlit_softly(vec3 at) {
    vec2 texel = 1.3 / vec2(textureSize(shadow_map, 0));
    float sum = 0.0;
    for (int i = -2; i <= 2; ++i)
        for (int j = -2; j <= 2; ++j) sum += texture(shadow_map, vec3(at.xy + texel * vec2(i, j), at.z));
    return sum / 25.0;
}

float sunlit(vec3 at) {
    vec2 out_of = abs(at.xy - 0.5);
    return max(out_of.x, out_of.y) > 0.498 ? 1.0 : sunlit_softly(at);
}
#endif
