#version 330 core
#include "overlay.glsl"
#include "glyph.glsl"
flat in vec4 axis;
#ifdef SOFTWARE
in float opacity;
#else
flat in vec2 near;
flat in float fade;
#endif
flat in vec4 shaft;
flat in vec4 head;
flat in vec4 color;
out vec4 out_color;

void main() {
    vec2 d = gl_FragCoord.xy - axis.xy;
    vec2 p = vec2(dot(d, axis.zw), abs(d.y * axis.z - d.x * axis.w));  // along the stroke and across [pixels]
    float sdf = max(max(-p.x - shaft.y, p.x - shaft.x), p.y - shaft.y);
    sdf = max(sdf, shaft.w - abs(mod(p.x + 0.5 * shaft.z, shaft.z) - 0.5 * shaft.z));
#ifndef SHAFT
    float tip = max((p.x - head.x) * head.y + p.y * head.z, shaft.x - p.x);  // triangle twice as long as half its base
    sdf = min(sdf, max(tip, -tip - head.w));
#endif
#ifndef SOFTWARE
    float away = 1.0 / max(near.x + near.y * p.x, 1e-9);
    float opacity = color.a * mix(1.0, fade, hidden(gl_FragCoord.xy, away));
#endif
    out_color = glyph(sdf, color.rgb, opacity);
}
