#version 330 core
// A capsule, cylinder or ellipsoid as the front faces of the box around it.
#include "frame.glsl"
in vec3 in_position;  // corner of the cube -1..1
in vec3 in_place;
in vec4 in_turn;
in vec3 in_size;
in vec4 in_color;
out vec3 ray;          // from the eye, shape frame
flat out vec3 from;    // the eye, shape frame
flat out vec3 size;    // radius, half length; semi-axes
flat out vec4 turn;
flat out vec4 color;

void main() {
#ifdef CAPSULE
    vec3 half_size = vec3(in_size.x, in_size.x, in_size.x + in_size.y);
#elif defined(ELLIPSOID)
    vec3 half_size = in_size;
#else
    vec3 half_size = in_size.xxy;
#endif
    vec3 local = in_position * half_size;
    from = unrotate(in_turn, eye.xyz - in_place);
    ray = local - from;
    size = in_size;
    turn = in_turn;
    color = in_color;
    gl_Position = view_projection * vec4(in_place + rotate(in_turn, local), 1.0);
}
