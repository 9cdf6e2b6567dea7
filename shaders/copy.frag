#version 330 core
uniform sampler2D picture;
out vec4 out_color;

void main() {
    out_color = vec4(texelFetch(picture, ivec2(gl_FragCoord.xy), 0).rgb, 1.0);
}
