// Adds up the partial sums of conv2d and conv2d_window, and the filter's bias if there is one:
// y[layer, i] = bias[filter] + sum over s of parts[layer, s, i]. Each thread computes one output
// and moves parts + 1 elements. For a missing bias, scale or residual, a buffer must be bound but
// is not read.

struct Params {
  n: u32,
  inner: u32, // outputs of one image and group
  parts: u32,
  pixels: u32,
  filters: u32, // of all groups
  added: u32, // whether each filter has a bias; with AFTER as in lib/convolution_end.wgsl
}

@group(0) @binding(0) var<storage, read> parts: array<f32>;
@group(0) @binding(1) var<storage, read> bias: array<f32>;
@group(0) @binding(2) var<storage, read> scale: array<f32>;
@group(0) @binding(3) var<storage, read> residual: array<f32>;
@group(0) @binding(4) var<storage, read_write> y: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/convolution_end.wgsl

const THREADS = 128u;

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
  let layer = i / params.inner;
  var at = layer * params.parts * params.inner + i % params.inner;
  var sum = 0.0;
  for (var s = 0u; s < params.parts; s++) {
    sum += parts[at];
    at += params.inner;
  }
  let filter_index = i / params.pixels % params.filters;
  //#if AFTER
  if (AFTER != 0u) {
    y[i] = ended(sum, filter_index, i);
    return;
  }
  //#endif
  if (params.added != 0u) {
    sum += bias[filter_index];
  }
  y[i] = sum;
}
