#version 330 core
// Panels: positions in window units, y down.
uniform vec2 display;  // size of the window in the same units
in vec2 in_position;
in vec2 in_uv;
in vec4 in_color;
out vec2 uv;
out vec4 color;

void main() {
    uv = in_uv;
    color = in_color;
    gl_Position = vec4(2.0 * in_position.x / display.x - 1.0, 1.0 - 2.0 * in_position.y / display.y, 0.0, 1.0);
}
