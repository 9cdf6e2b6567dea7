// What all programs of the 3-D view share for one picture.
layout(std140) uniform Frame {
    mat4 view_projection;  // world -> clip, far plane at infinity
    mat4 light_matrix;     // world -> shadow map, 0..1
    vec4 eye;              // w: near plane [m]
    vec4 forward;          // unit, along the view; w: size [m] of a pixel at 1 m
    vec4 light;            // unit, towards the light; w: its strength
    vec4 sky_light;        // rgb linear; w: shadow on 1, off 0
    vec4 ground_light;     // rgb linear; w: depth in the shadow map of the size of its texels
    vec4 zenith;           // rgb linear; w: alpha of bodies
    vec4 horizon;          // rgb linear; w: style of bodies, 0 solid, 1 transparent, 2 wireframe
    vec4 viewport;         // width, height, scale of glyphs, strength of edge lines
    vec4 halfway;          // unit, between the light and the way back along the view
    vec4 corner;           // of the view in the framebuffer: lower left x, y [pixels]
};

float depth_of(vec3 offset) {
    // window depth of eye + offset: z_clip / w_clip = 1 - 2 near / w
    return 1.0 - eye.w / dot(forward.xyz, offset);
}

vec3 rotate(vec4 q, vec3 v) {  // q = (x, y, z, w)
    return v + 2.0 * cross(q.xyz, cross(q.xyz, v) + q.w * v);
}

vec3 unrotate(vec4 q, vec3 v) {
    return rotate(vec4(-q.xyz, q.w), v);
}

vec3 to_srgb(vec3 c) {
    // IEC 61966-2-1 by square roots, within 0.004
    vec3 s1 = sqrt(max(c, 0.0));
    vec3 s2 = sqrt(s1);
    vec3 s3 = sqrt(s2);
    return clamp(0.662002687 * s1 + 0.684122060 * s2 - 0.323583601 * s3 - 0.0225411470 * c, 0.0, 1.0);
}
