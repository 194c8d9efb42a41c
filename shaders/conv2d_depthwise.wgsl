// Two-dimensional cross-correlation in which each filter sees only one channel (groups = channels),
// NCHW, otherwise as in conv2d.wgsl: y[n, f, p, q] = sum over r, s of x[n, c, p stride_h + r
// dilation_h - pad_h, q …] w[f, r, s] with c = f / (filters per group).
//
// A thread computes 4 vertically adjacent pixels. Neighbouring threads then access neighbouring
// elements of x and y, and a weight is read once for 4 products. Overlapping windows are left to
// the caches. n counts threads: the planes of y × ceil(out_h / 4) × out_w. Cost: 2 N F P Q R S
// operations. With BIAS, each filter has a bias. For a missing bias, scale or residual, a buffer
// must be bound but is not read.

struct Params {
  n: u32,
  height: u32,
  width: u32,
  filters: u32, // of one group
  all_filters: u32, // of all groups
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
  added: u32, // with AFTER as in lib/convolution_end.wgsl
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> w: array<f32>;
@group(0) @binding(2) var<storage, read> bias: array<f32>;
@group(0) @binding(3) var<storage, read> scale: array<f32>;
@group(0) @binding(4) var<storage, read> residual: array<f32>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/convolution_end.wgsl

override BIAS: u32 = 0u;

const THREADS = 64u;

fn input_at(base: u32, row: u32, column: u32) -> f32 {
  // Positions left of or above x are huge, because unsigned numbers wrap.
  if (row >= params.height || column >= params.width) {
    return 0.0;
  }
  return x[base + row * params.width + column];
}

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let i = (workgroup.y * workgroups.x + workgroup.x) * THREADS + thread;
  if (i >= params.n) {
    return;
  }
  let q = i % params.out_w;
  let rows = (params.out_h + 3u) / 4u;
  let p = i / params.out_w % rows * 4u;
  let plane = i / params.out_w / rows; // image × filters + filter
  let x_base = plane / params.filters * params.height * params.width;
  let w_base = plane % params.all_filters * params.kernel_h * params.kernel_w;
  let row0 = p * params.stride_h - params.pad_h;
  let column0 = q * params.stride_w - params.pad_w;
  var sums = vec4f();
  for (var r = 0u; r < params.kernel_h; r++) {
    let row = row0 + r * params.dilation_h;
    for (var s = 0u; s < params.kernel_w; s++) {
      let column = column0 + s * params.dilation_w;
      let four = vec4f(
        input_at(x_base, row, column),
        input_at(x_base, row + params.stride_h, column),
        input_at(x_base, row + 2u * params.stride_h, column),
        input_at(x_base, row + 3u * params.stride_h, column),
      );
      sums += w[w_base + r * params.kernel_w + s] * four;
    }
  }
  if (BIAS != 0u) {
    sums += bias[plane % params.all_filters];
  }
  let y_base = (plane * params.out_h + p) * params.out_w + q;
  for (var j = 0u; j < 4u; j++) {
    if (p + j < params.out_h) {
      let at = y_base + j * params.out_w;
      //#if AFTER
      if (AFTER != 0u) {
        y[at] = ended(sums[j], plane % params.all_filters, at);
        continue;
      }
      //#endif
      y[at] = sums[j];
    }
  }
}
