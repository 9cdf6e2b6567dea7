#include "frame.glsl"
uniform sampler2D scene_depth;
uniform vec3 halo;

vec4 glyph(float sdf, vec3 color, float alpha, float fade, float seen_from) {
    // a shape given by its distance [pixels], with a halo; fainter behind what is nearer by more than 1 %
    float depth = texelFetch(scene_depth, ivec2(gl_FragCoord.xy), 0).r;
    float nearest = eye.w / max(1.0 - depth, 1e-9);
    float hidden = seen_from > 1.01 * nearest ? fade : 1.0;
    float inside = clamp(0.5 - sdf, 0.0, 1.0);
    float around = clamp(0.5 - (sdf - 1.2 * viewport.z), 0.0, 1.0) * 0.55;
    float a = max(inside, around);
    if (a <= 0.0) discard;
    return vec4(mix(halo, color, inside / a), a * alpha * hidden);
}
