// Two-dimensional cross-correlation (what neural networks call convolution), NCHW:
//   y[n, f, p, q] = sum over c, r, s of x[n, c, p stride_h + r dilation_h - pad_h, q …] w[f, c, r, s]
// with zeros outside x.
//
// Implicit GEMM: rows are the filters of one group, columns the output pixels of one image, and
// the sum runs over (c, r, s); the im2col matrix exists only as tiles in workgroup memory. A
// workgroup of 16 × 16 threads makes a 64 × 64 tile, 16 steps deep; a thread keeps 4 × 4 sums.
// z numbers image × group. 2 N F P Q C R S / groups operations. With BIAS, each filter has a number
// that is added to its outputs; without, the binding must be there but is not read.

struct Params {
  channels: u32, // of one group
  height: u32,
  width: u32,
  filters: u32, // of one group
  kernel_h: u32,
  kernel_w: u32,
  out_h: u32,
  out_w: u32,
  stride_h: u32,
  stride_w: u32,
  pad_h: u32,
  pad_w: u32,
  dilation_h: u32,
  dilation_w: u32,
  groups: u32,
  first_z: u32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> w: array<f32>;
@group(0) @binding(2) var<storage, read> bias: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

override BIAS: u32 = 0u;

const TILE = 64u;
const DEPTH = 16u;
const PITCH = 68u;

var<workgroup> w_tile: array<f32, DEPTH * PITCH>; // transposed: [step][filter]
var<workgroup> x_tile: array<f32, DEPTH * PITCH>; // [step][pixel]

fn input_at(base: u32, step: u32, pixel: u32) -> f32 {
  let window = params.kernel_h * params.kernel_w;
  let in_window = step % window;
  // Unsigned arithmetic: a position left of or above x wraps to a huge one and fails the test.
  let row = pixel / params.out_w * params.stride_h
    + in_window / params.kernel_w * params.dilation_h - params.pad_h;
  let column = pixel % params.out_w * params.stride_w
    + in_window % params.kernel_w * params.dilation_w - params.pad_w;
  if (row >= params.height || column >= params.width) {
    return 0.0;
  }
  return x[base + (step / window * params.height + row) * params.width + column];
}

fn store(z: u32, filter_index: u32, pixel: u32, sums: vec4f) {
  let pixels = params.out_h * params.out_w;
  if (filter_index >= params.filters) {
    return;
  }
  var added = 0.0;
  if (BIAS != 0u) {
    added = bias[z % params.groups * params.filters + filter_index];
  }
  let base = (z * params.filters + filter_index) * pixels;
  for (var j = 0u; j < 4u; j++) {
    if (pixel + j < pixels) {
      y[base + pixel + j] = sums[j] + added;
    }
  }
}

@compute @workgroup_size(16, 16)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_id) local: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let pixels = params.out_h * params.out_w;
  let steps = params.channels * params.kernel_h * params.kernel_w;
  let tile_columns = (pixels + TILE - 1u) / TILE;
  let tile_rows = (params.filters + TILE - 1u) / TILE;
  let tile = workgroup.y * workgroups.x + workgroup.x;
  if (tile >= tile_rows * tile_columns) {
    return;
  }
  let filter0 = tile / tile_columns * TILE;
  let pixel0 = tile % tile_columns * TILE;
  let z = params.first_z + workgroup.z; // image × groups + group
  let x_base = z * params.channels * params.height * params.width;
  let w_base = z % params.groups * params.filters * steps;

  var sums0 = vec4f();
  var sums1 = vec4f();
  var sums2 = vec4f();
  var sums3 = vec4f();
  let my_filter = 4u * local.y;
  let my_pixel = 4u * local.x;
  for (var step0 = 0u; step0 < steps; step0 += DEPTH) {
    for (var i = thread; i < TILE * DEPTH; i += 256u) {
      let step = step0 + i % DEPTH;
      let filter_index = filter0 + i / DEPTH;
      var value = 0.0;
      if (filter_index < params.filters && step < steps) {
        value = w[w_base + filter_index * steps + step];
      }
      w_tile[i % DEPTH * PITCH + i / DEPTH] = value;
    }
    for (var i = thread; i < TILE * DEPTH; i += 256u) {
      let step = step0 + i / TILE;
      let pixel = pixel0 + i % TILE;
      var value = 0.0;
      if (pixel < pixels && step < steps) {
        value = input_at(x_base, step, pixel);
      }
      x_tile[i / TILE * PITCH + i % TILE] = value;
    }
    workgroupBarrier();
    for (var d = 0u; d < DEPTH; d++) {
      let at_w = d * PITCH + my_filter;
      let at_x = d * PITCH + my_pixel;
      let row = vec4f(x_tile[at_x], x_tile[at_x + 1u], x_tile[at_x + 2u], x_tile[at_x + 3u]);
      sums0 += w_tile[at_w] * row;
      sums1 += w_tile[at_w + 1u] * row;
      sums2 += w_tile[at_w + 2u] * row;
      sums3 += w_tile[at_w + 3u] * row;
    }
    workgroupBarrier();
  }
  let pixel = pixel0 + my_pixel;
  store(z, filter0 + my_filter, pixel, sums0);
  store(z, filter0 + my_filter + 1u, pixel, sums1);
  store(z, filter0 + my_filter + 2u, pixel, sums2);
  store(z, filter0 + my_filter + 3u, pixel, sums3);
}
