#version 330 core
// A sphere as a flat octagon that hides exactly its silhouette's cone. A particle, of radius 0, is a dot.
#include "frame.glsl"
in vec2 in_corner;
in vec3 in_place;
in vec4 in_turn;
in vec3 in_size;
in vec4 in_color;
out vec3 ray;
flat out vec3 centre;
flat out float radius;
flat out vec4 turn;
flat out vec4 color;

void main() {
    vec3 to = in_place - eye.xyz;
    float d2 = max(dot(to, to), 1e-12), d = sqrt(d2);
    float r = in_size.x > 0.0 ? in_size.x : 5.0 * viewport.z * forward.w * d;
    vec3 f = to / d;
    vec3 side = normalize(cross(f, abs(f.z) < 0.9 ? vec3(0, 0, 1) : vec3(1, 0, 0)));
    vec3 up = cross(side, f);
    // the tangent cone has half-angle asin(r / d): its radius at distance d is r d / sqrt(d2 - r2)
    float reach = r * d / sqrt(max(d2 - r * r, 0.02 * d2));
    ray = to + reach * (in_corner.x * side + in_corner.y * up);
    // drawn at the front of the sphere, so that no fragment lies before it
    float front = max((d - r) / d, min(1.0, 1.5 * eye.w / d));
    centre = to;
    radius = r;
    turn = in_turn;
    color = in_color;
    gl_Position = view_projection * vec4(eye.xyz + ray * front, 1.0);
}
