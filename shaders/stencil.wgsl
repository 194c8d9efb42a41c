// 3 × 3 filters of images [height, width, channels] in 0..1 with a replicated border. One pixel per
// thread. Results are clamped. With 2 or 4 channels, the last is alpha and unchanged.
//
// sharpen  0 -1 0 / -1 5 -1 / 0 -1 0, for each colour separately
// sobel    every colour = 1 if the gradient magnitude of the luminance
//          (0.299 r + 0.587 g + 0.114 b) is above amount, else 0

struct Params {
  height: u32,
  width: u32,
  channels: u32,
  amount: f32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

// 0 sharpen, 1 sobel
override OP: u32 = 0u;

fn offset_of(row: i32, column: i32) -> u32 {
  let r = u32(clamp(row, 0, i32(params.height) - 1));
  let c = u32(clamp(column, 0, i32(params.width) - 1));
  return (r * params.width + c) * params.channels;
}

fn luminance(row: i32, column: i32) -> f32 {
  let at = offset_of(row, column);
  if (params.channels < 3u) {
    return x[at];
  }
  return 0.299 * x[at] + 0.587 * x[at + 1u] + 0.114 * x[at + 2u];
}

fn edge(row: i32, column: i32) -> f32 {
  let top_left = luminance(row - 1, column - 1);
  let top_right = luminance(row - 1, column + 1);
  let bottom_left = luminance(row + 1, column - 1);
  let bottom_right = luminance(row + 1, column + 1);
  let across = top_right + 2.0 * luminance(row, column + 1) + bottom_right
    - top_left - 2.0 * luminance(row, column - 1) - bottom_left;
  let down = bottom_left + 2.0 * luminance(row + 1, column) + bottom_right
    - top_left - 2.0 * luminance(row - 1, column) - top_right;
  return select(0.0, 1.0, sqrt(across * across + down * down) > params.amount);
}

fn sharp(row: i32, column: i32, c: u32) -> f32 {
  return 5.0 * x[offset_of(row, column) + c]
    - x[offset_of(row - 1, column) + c] - x[offset_of(row + 1, column) + c]
    - x[offset_of(row, column - 1) + c] - x[offset_of(row, column + 1) + c];
}

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let pixel = id.y * groups.x * 256u + id.x;
  if (pixel >= params.height * params.width) {
    return;
  }
  let row = i32(pixel / params.width);
  let column = i32(pixel % params.width);
  let colours = params.channels - select(0u, 1u, params.channels % 2u == 0u);
  var edge_value = 0.0;
  if (OP == 1u) {
    edge_value = edge(row, column);
  }
  for (var c = 0u; c < params.channels; c++) {
    let at = pixel * params.channels + c;
    if (c >= colours) {
      y[at] = clamp(x[at], 0.0, 1.0);
    } else if (OP == 1u) {
      y[at] = edge_value;
    } else {
      y[at] = clamp(sharp(row, column, c), 0.0, 1.0);
    }
  }
}
