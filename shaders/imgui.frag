#version 330 core
uniform sampler2D glyphs;
in vec2 uv;
in vec4 color;
out vec4 out_color;

void main() {
    out_color = color * texture(glyphs, uv);
}
