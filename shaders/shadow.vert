#version 330 core
// Depth as the light sees it; no fragment colour.
#include "frame.glsl"
in vec3 in_position;
in vec3 in_place;
in vec4 in_turn;
in vec3 in_size;

void main() {
#if defined(SPHERE)
    vec3 side = normalize(cross(light.xyz, vec3(0.0, 1.0, 0.1)));
    vec3 p = in_place + in_size.x * (in_position.x * side + in_position.y * cross(light.xyz, side));
#elif defined(CAPSULE)
    vec3 p = in_place + rotate(in_turn, in_position * in_size.x + vec3(0, 0, sign(in_position.z) * in_size.y));
#elif defined(CYLINDER)
    vec3 p = in_place + rotate(in_turn, in_position * in_size.xxy);
#else
    vec3 p = in_place + rotate(in_turn, in_position * in_size);
#endif
    gl_Position = vec4((light_matrix * vec4(p, 1.0)).xyz * 2.0 - 1.0, 1.0);
}
