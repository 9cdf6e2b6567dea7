#include "frame.glsl"
uniform sampler2D scene_depth;

float hidden(vec2 pixel, float away) {
    // whether a point `away` [m] along the view is behind what is seen there, by more than 1 %
    float depth = texelFetch(scene_depth, ivec2(pixel), 0).r;
    return step(eye.w, 0.99 * away * (1.0 - depth));  // what is seen is near / (1 - depth) away
}
