#version 330 core
in vec2 in_corner;

void main() {
    gl_Position = vec4(in_corner, 1.0, 1.0);
}
