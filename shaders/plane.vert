#version 330 core
// An infinite plane as a fan of four triangles whose outer corners lie at infinity.
#include "frame.glsl"
uniform vec3 plane_origin;  // the point of the plane nearest to the eye
uniform mat3 plane_axes;    // columns: its x and y, its normal
in vec2 in_corner;          // direction, or (0, 0) for the middle

void main() {
    vec3 arm = plane_axes * vec3(in_corner, 0.0);
    gl_Position = view_projection * (in_corner == vec2(0.0) ? vec4(plane_origin, 1.0) : vec4(arm, 0.0));
    gl_Position.z -= 1e-6 * abs(gl_Position.w);  // infinity must not be clipped by rounding
}
