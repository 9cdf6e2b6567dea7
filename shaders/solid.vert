#version 330 core
// Boxes, hulls and meshes: triangles with edge lines.
#include "frame.glsl"
in vec3 in_position;
in vec3 in_normal;
in vec3 in_edge;
in vec3 in_place;
in vec4 in_turn;
in vec3 in_size;
in vec4 in_color;
#ifdef TEXTURED
in vec2 in_uv;
out vec2 uv;
#endif
out vec3 normal;
out vec3 from_edge;
out vec3 place;
out vec3 local;
flat out vec4 color;

void main() {
    local = in_position * in_size;
    vec3 arm = rotate(in_turn, local);
    normal = rotate(in_turn, in_normal / in_size);
    from_edge = in_edge;
#ifdef TEXTURED
    uv = in_uv;
#endif
    place = in_place + arm;
    color = in_color;
    gl_Position = view_projection * vec4(place, 1.0);
}
