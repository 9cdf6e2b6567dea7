#version 330 core
// Triangles over the picture, or parts of it.
in vec2 in_corner;
out vec2 at;

void main() {
    at = 0.5 + 0.5 * in_corner;
    gl_Position = vec4(in_corner, 0.0, 1.0);
}
