#version 330 core
// The part of a plane that the shadow map covers.
#include "frame.glsl"
in vec3 in_position;   // world
in vec2 in_shadow_at;  // shadow map, 0..1
out vec3 at;

void main() {
    at = vec3(in_shadow_at, (light_matrix * vec4(in_position, 1.0)).z - ground_light.w);
    gl_Position = view_projection * vec4(in_position, 1.0);
    gl_Position.z -= 2e-4 * gl_Position.w;  // before the plane itself, which is there already
}
