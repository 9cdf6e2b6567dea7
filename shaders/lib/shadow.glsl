// How much of the sun reaches a point, 0..1, by percentage-closer filtering of the shadow map.
uniform sampler2DShadow shadow_map;

float sunlit_softly(vec3 at) {
#ifdef SOFTWARE
    return texture(shadow_map, at);  // of four texels
#else
    vec2 texel = 1.3 / vec2(textureSize(shadow_map, 0));
    float sum = 0.0;
    for (int i = -2; i <= 2; ++i)
        for (int j = -2; j <= 2; ++j) sum += texture(shadow_map, vec3(at.xy + texel * vec2(i, j), at.z));
    return sum / 25.0;
#endif
}

float sunlit(vec3 at) {
    vec2 out_of = abs(at.xy - 0.5);
    return max(out_of.x, out_of.y) > 0.498 ? 1.0 : sunlit_softly(at);
}
