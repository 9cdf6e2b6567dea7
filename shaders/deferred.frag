#version 330 core
// Light on the surfaces that bodies left, and shadows on the floor, once a pixel.
#include "light.glsl"
uniform sampler2D scene_depth;
uniform sampler2D surfaces;  // root of albedo, edge
uniform sampler2D normals;   // 0..1; alpha 1 where there is a body
uniform sampler2D backdrop;
uniform mat3 unproject;      // window (x, y, 1) -> direction from the eye
uniform vec4 floor_normal;   // w: 1 where there is a floor
uniform vec3 darkness;       // of the floor, shadowed over lit colour
uniform float reach;         // of the haze [m]
out vec4 out_color;

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    float away = eye.w / max(1.0 - texelFetch(scene_depth, pixel, 0).r, 1e-7);
    vec4 surface = texelFetch(surfaces, pixel, 0), stored = texelFetch(normals, pixel, 0);
    vec3 behind = texelFetch(backdrop, pixel, 0).rgb;
    bool body = stored.a > 0.5;
    vec3 p = eye.xyz + away * (unproject * vec3(gl_FragCoord.xy, 1.0));
    vec3 normal = body ? normalize(stored.xyz - 0.5) : floor_normal.xyz;
    float sun = sun_at(p, normal);
    vec3 albedo = surface.rgb * surface.rgb;
    vec3 lit = with_edge(shade(albedo, normal, p, sun), albedo, surface.a);
    float x = away / reach;
    vec3 floor_color = behind * mix(vec3(1.0), darkness, floor_normal.w * (1.0 - sun) / (1.0 + 3.0 * x * x));
    // the alpha tells fxaa.frag bodies from floors and sky, whose lines are smooth already
    out_color = body ? vec4(lit, 254.0 / 255.0) : vec4(floor_color, 1.0);
}
