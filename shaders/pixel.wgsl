// Point filters of images [pixels, channels] in 0..1, one pixel per thread. Results are clamped.
// With 2 or 4 channels, the last is alpha and unchanged.
//
// grayscale   every colour = 0.299 r + 0.587 g + 0.114 b (ITU-R BT.601); one colour is unchanged
// threshold   1 if the value is at least amount, else 0
// brightness  v amount
// contrast    (v - 0.5) amount + 0.5
// invert      1 - v

struct Params {
  pixels: u32,
  channels: u32,
  amount: f32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

// 0 grayscale, 1 threshold, 2 brightness, 3 contrast, 4 invert
override OP: u32 = 0u;

fn apply(v: f32) -> f32 {
  switch (OP) {
    case 1u: { return select(0.0, 1.0, v >= params.amount); }
    case 2u: { return v * params.amount; }
    case 3u: { return (v - 0.5) * params.amount + 0.5; }
    case 4u: { return 1.0 - v; }
    case 0u, default: { return v; }
  }
}

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let pixel = id.y * groups.x * 256u + id.x;
  if (pixel >= params.pixels) {
    return;
  }
  let base = pixel * params.channels;
  let colours = params.channels - select(0u, 1u, params.channels % 2u == 0u);
  var grey = x[base];
  if (colours == 3u) {
    grey = 0.299 * x[base] + 0.587 * x[base + 1u] + 0.114 * x[base + 2u];
  }
  for (var c = 0u; c < params.channels; c++) {
    var value = x[base + c];
    if (c < colours) {
      value = apply(select(value, grey, OP == 0u));
    }
    y[base + c] = clamp(value, 0.0, 1.0);
  }
}
