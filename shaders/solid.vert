#version 330 core
// Boxes, hulls and meshes: triangles with edge lines.
#include "frame.glsl"
in vec3 in_position;
in vec3 in_normal;
#ifndef PLAIN
in vec3 in_edge;
#endif
in vec3 in_place;
in vec4 in_turn;
in vec3 in_size;
in vec4 in_color;
#ifdef TEXTURED
in vec2 in_uv;
out vec2 uv;
#endif
out vec3 normal;
#ifdef PLAIN
out vec3 in_light;
#else
out vec3 from_edge;
out vec3 place;
out vec3 local;
#endif
flat out vec4 color;

void main() {
    vec3 own = in_position * in_size, at = in_place + rotate(in_turn, own);
    normal = rotate(in_turn, in_normal / in_size);
#ifdef PLAIN
    in_light = (light_matrix * vec4(at, 1.0)).xyz;
#else
    from_edge = in_edge;
    local = own;
    place = at;
#endif
#ifdef TEXTURED
    uv = in_uv;
#endif
    color = in_color;
    gl_Position = view_projection * vec4(at, 1.0);
}
