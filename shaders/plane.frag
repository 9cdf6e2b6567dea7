#version 330 core
#include "light.glsl"
uniform mat4 unproject;     // window x, y -> world direction from the eye (columns 0..2)
uniform vec4 plane_place;   // w: alpha
uniform vec4 plane_turn;
uniform vec4 plane_color;   // linear; w: 1 ground that goes to the horizon, 0 wall that fades at `reach`
uniform vec4 grid_color;    // linear; w: strength
uniform vec4 grid;          // minor cell [m], its strength, major cell [m], reach [m]
uniform vec3 middle;        // of the scene, plane frame
out vec4 out_color;

float lines(vec2 at, float cell, vec2 width) {
    // anti-aliased lines a pixel or so wide, their darkness kept where they are thinner than that
    vec2 w = width / cell;
    vec2 from = abs(fract(at / cell - 0.5) - 0.5);
    vec2 l = clamp(1.0 - from / max(w, 1e-6), 0.0, 1.0) * clamp(0.33 / w - 0.33, 0.0, 1.0);
    return max(l.x, l.y);
}

void main() {
    vec3 d = mat3(unproject) * vec3(gl_FragCoord.xy, 1.0);
    vec3 n = rotate(plane_turn, vec3(0, 0, 1));
    vec3 o = eye.xyz - plane_place.xyz;
    float height = dot(o, n), slope = dot(d, n);
    float t = -height / slope;
    if (!(t > 0.0)) discard;
    vec3 p = unrotate(plane_turn, o + t * d);
    vec3 world = eye.xyz + t * d;
    float distance_to = t * length(d);
    // size of a pixel on the plane, along both axes: across the view and stretched along it by 1 / sine
    float pixel = forward.w * t;
    float stretch = distance_to / max(abs(height), 1e-9);
    vec2 along = unrotate(plane_turn, d).xy;
    along = abs(along) / max(length(along), 1e-9);
    vec2 width = 1.25 * pixel * (vec2(1.0) + along * (stretch - 1.0));
    float far = clamp(1.0 - distance_to / grid.w, 0.0, 1.0);
    float line = max(lines(p.xy, grid.x, width) * 0.45 * grid.y, lines(p.xy, grid.z, width)) * far * grid_color.w;
    float facing = abs(dot(n, light.xyz));
    float lit = sky_light.w > 0.0 && height * dot(n, light.xyz) > 0.0 ? sunlit(world, facing) : 1.0;
    vec3 ambient = mix(ground_light.rgb, sky_light.rgb, 0.5 + 0.5 * n.z);
    vec3 c = plane_color.rgb * (ambient + light.w * facing * lit);
    c = mix(c, grid_color.rgb, line);
    float alpha = plane_place.w;
    if (plane_color.w > 0.5) {
        float haze = 1.0 - exp(-1.2 * distance_to / grid.w);
        c = mix(c, horizon.rgb, haze * haze);
    } else {
        float r = length(p - middle) / grid.w * 4.0;
        alpha *= clamp(1.4 - r, 0.0, 1.0);
        alpha = mix(alpha, max(alpha, 0.6), line);
    }
    out_color = vec4(to_srgb(c), alpha);
}
