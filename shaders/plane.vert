#version 330 core
// An infinite plane as a fan of four triangles whose outer corners lie at infinity.
#include "frame.glsl"
uniform vec4 plane_place;   // xyz: a point of the plane
uniform vec4 plane_turn;    // plane frame -> world
in vec2 in_corner;          // direction, or (0, 0) for the middle

void main() {
    vec3 arm = rotate(plane_turn, vec3(in_corner, 0.0));
    bool middle = in_corner == vec2(0.0);
    vec3 local_eye = unrotate(plane_turn, eye.xyz - plane_place.xyz);
    vec3 below = plane_place.xyz + rotate(plane_turn, vec3(local_eye.xy, 0.0));
    gl_Position = view_projection * (middle ? vec4(below, 1.0) : vec4(arm, 0.0));
    gl_Position.z -= 1e-6 * abs(gl_Position.w);
}
