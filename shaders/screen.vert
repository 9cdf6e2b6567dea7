#version 330 core
// Triangles over the picture, or parts of it.
in vec2 in_corner;

void main() {
    gl_Position = vec4(in_corner, 0.0, 1.0);
}
