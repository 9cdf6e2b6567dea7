#version 330 core
// A picture of any size, over the whole view.
uniform sampler2D picture;
in vec2 at;  // 0..1
out vec4 out_color;

void main() {
    out_color = vec4(texture(picture, at).rgb, 1.0);
}
