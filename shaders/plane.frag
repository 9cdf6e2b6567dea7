#version 330 core
#include "frame.glsl"
uniform mat3 to_plane;      // window (x, y, 1) -> plane coordinates [m] / distance along the view, 1 / that distance
uniform vec3 lit_color;     // sRGB from here on
uniform vec3 grid_color;
uniform vec3 haze_color;
uniform vec4 grid;          // 1 / minor cell [1/m], its strength, 1 / major cell, reach [m]
uniform vec3 wall;          // 1: fades around (0, 0), 0: goes to the horizon; opacity; radius [m]
out vec4 out_color;

float lines(vec2 at, vec2 width) {
    // anti-aliased lines, at and width in cells; they fade where less than three pixels fit between them
    vec2 l = clamp(1.0 - abs(fract(at - 0.5) - 0.5) / width, 0.0, 1.0) * clamp(0.33 / width - 0.5, 0.0, 1.0);
    return max(l.x, l.y);
}

void main() {
    vec3 h = to_plane * vec3(gl_FragCoord.xy, 1.0);
    vec2 p = h.xy / h.z;
    float away = 1.0 / h.z;  // along the view [m]
    // how far a pixel reaches on the plane: the derivatives of h.xy / h.z
    vec2 dx = (to_plane[0].xy - p * to_plane[0].z) / h.z, dy = (to_plane[1].xy - p * to_plane[1].z) / h.z;
    vec2 width = 1.2 * sqrt(dx * dx + dy * dy);
    float line = max(lines(p * grid.x, width * grid.x) * grid.y * 0.5, lines(p * grid.z, width * grid.z));
    float x = away / grid.w;
    line *= clamp(1.2 - x, 0.0, 1.0);
    vec3 c = mix(lit_color, grid_color, line);
    c = mix(c, haze_color, (1.0 - wall.x) * (1.0 - 0.35 / (0.35 + x * x)));
    float fade = clamp(1.3 - dot(p, p) / (wall.z * wall.z), 0.0, 1.0) * (1.0 + 1.5 * line);
    out_color = vec4(c, mix(1.0, fade, wall.x) * wall.y);
}
