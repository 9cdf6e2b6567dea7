#version 330 core
#extension GL_EXT_shader_framebuffer_fetch : require
// Light on the surfaces that bodies left, and shadows on the floor, once a pixel. Reads what is at the pixel itself
// from the framebuffer: to a processor textures cost four times as much.
#include "light.glsl"
layout(location = 0) inout vec4 picture;  // sky and floors so far
layout(location = 1) inout vec4 surface;  // root of albedo, edge
layout(location = 2) inout vec4 stored;   // normal 0..1; alpha 1 where there is a body
uniform sampler2D scene_depth;
uniform mat3 unproject;      // window (x, y, 1) -> direction from the eye
uniform mat3 to_map;         // the same -> direction in the shadow map
uniform vec3 map_eye;        // the eye in the shadow map
uniform vec4 floor_normal;   // w: 1 where there is a floor
uniform vec3 darkness;       // of the floor, shadowed over lit colour
uniform float reach;         // of the haze [m]

void main() {
    vec3 window = vec3(gl_FragCoord.xy, 1.0);
    float away = eye.w / max(1.0 - texelFetch(scene_depth, ivec2(window.xy), 0).r, 1e-7);
    bool body = stored.a > 0.5;
    vec3 normal = body ? normalize(stored.xyz - 0.5) : floor_normal.xyz;
    float sun = sun_at(map_eye + away * (to_map * window), normal);
    vec3 albedo = surface.rgb * surface.rgb;
    vec3 lit = with_edge(shade(albedo, normal, -(unproject * window), sun), albedo, surface.a);
    float x = away / reach;
    vec3 floor_color = picture.rgb * mix(vec3(1.0), darkness, floor_normal.w * (1.0 - sun) / (1.0 + 3.0 * x * x));
    picture = body ? vec4(lit, BODY) : vec4(floor_color, 1.0);
}
