#version 330 core
// A contact mark: a square of a given size in pixels around a point.
#include "frame.glsl"
in vec2 in_corner;
in vec3 in_place;
in vec4 in_color;
in vec3 in_style;   // radius [pixels], shape, fade
out vec2 at;        // [pixels] from the middle
flat out vec4 color;
flat out vec3 style;
flat out float seen_from;  // distance along the view [m]

void main() {
    vec4 clip = view_projection * vec4(in_place, 1.0);
    float reach = in_style.x + 2.5 * viewport.z;
    at = in_corner * reach;
    color = in_color;
    style = in_style;
    seen_from = clip.w;
    gl_Position = clip.w <= eye.w ? vec4(2.0, 2.0, 2.0, 1.0)
                                  : vec4(clip.xy / clip.w + 2.0 * at / viewport.xy, 0.0, 1.0);
}
