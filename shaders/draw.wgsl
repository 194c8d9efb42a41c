// Draws a float image [height, width, channels] in 0..1 to a canvas of the same size: one triangle
// over the canvas, one fragment per pixel. 1 channel is grey, 3 are RGB, 4 are RGBA (not
// premultiplied; the canvas expects premultiplied). Values are clamped.

struct Size {
  height: u32,
  width: u32,
  channels: u32,
}

@group(0) @binding(0) var<storage, read> image: array<f32>;
@group(0) @binding(1) var<uniform> size: Size;

@vertex
fn corner(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
  return vec4f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}

@fragment
fn paint(@builtin(position) position: vec4f) -> @location(0) vec4f {
  let at = (u32(position.y) * size.width + u32(position.x)) * size.channels;
  var colour = vec4f(image[at], image[at], image[at], 1.0);
  if (size.channels >= 3u) {
    colour = vec4f(image[at], image[at + 1u], image[at + 2u], 1.0);
  }
  if (size.channels == 4u) {
    colour.a = image[at + 3u];
  }
  let clamped = clamp(colour, vec4f(0.0), vec4f(1.0));
  return vec4f(clamped.rgb * clamped.a, clamped.a);
}
