#version 330 core
#include "overlay.glsl"
#include "glyph.glsl"
in vec2 at;
noperspective in float near;
flat in vec4 shaft;
flat in vec4 head;
flat in vec4 color;
flat in float fade;
out vec4 out_color;

void main() {
    vec2 p = vec2(at.x, abs(at.y));
    float line = max(max(-at.x - shaft.y, at.x - shaft.x), p.y - shaft.y);
    line = max(line, shaft.w - abs(mod(at.x + 0.5 * shaft.z, shaft.z) - 0.5 * shaft.z));
    float tip = max((p.x - head.x) * head.y + p.y * head.z, shaft.x - p.x);  // triangle twice as long as half its base
    tip = max(tip, -tip - head.w);
    out_color = glyph(min(line, tip), color.rgb, color.a * mix(1.0, fade, hidden(gl_FragCoord.xy, 1.0 / near)));
}
