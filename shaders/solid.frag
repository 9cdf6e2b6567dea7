#version 330 core
#include "body.glsl"
in vec3 normal;
#ifdef PLAIN
in vec3 in_light;  // place in the shadow map
#else
in vec3 from_edge;  // barycentric: 0 on the edge opposite each corner; + 2 where that edge is not drawn
in vec3 place;
in vec3 local;
#endif
flat in vec4 color;
#ifdef TEXTURED
uniform sampler2D skin;
in vec2 uv;
#endif

#ifdef PLAIN
void main() {  // without lines and stripes, by a software renderer
    vec3 n = normalize(gl_FrontFacing ? normal : -normal);
    out_color = vec4(to_srgb(shade(color.rgb, n, -forward.xyz, sun_at(in_light, n))), BODY);
}
#else
void main() {
    vec3 hidden = step(1.5, from_edge), e = from_edge - 2.0 * hidden;
    vec3 pixels = e / max(fwidth(e), 1e-6);
    if (horizon.w < 1.5) pixels += 1e3 * hidden;  // far away, however small the triangle is on the screen
    float nearest = min(pixels.x, min(pixels.y, pixels.z));
    float edge = clamp(1.5 - nearest, 0.0, 1.0);
    vec3 n = normalize(normal);
    if (!gl_FrontFacing) n = -n;
    float pixel = forward.w * dot(forward.xyz, place - eye.xyz);
    float period = max(color.a, 1e-6);
    vec3 albedo = pattern(color.rgb, 1.0, (local.x + local.y + local.z) / period, color.a, 1.5 * pixel / period);
#ifdef TEXTURED
    albedo *= pow(texture(skin, uv).rgb, vec3(2.2));  // sRGB to light, nearly
    edge *= 0.3;  // lines of triangles would hide the picture
#endif
    finish(albedo, n, place, edge);
}
#endif
