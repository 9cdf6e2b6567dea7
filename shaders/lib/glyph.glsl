uniform vec3 halo;

vec4 glyph(float sdf, vec3 color, float alpha) {
    // a shape given by its distance [pixels], with a halo that parts it from anything behind
    float inside = clamp(0.5 - sdf, 0.0, 1.0);
    float around = clamp(0.5 - (sdf - 1.2 * viewport.z), 0.0, 1.0) * 0.55;
    float a = max(inside, around);
    return vec4(mix(halo, color, inside / max(a, 1e-3)), a * alpha);
}
