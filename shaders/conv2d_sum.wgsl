// Adds up the partial sums of conv2d and conv2d_window, and the filter's bias if there is one:
// y[layer, i] = bias[filter] + sum over s of parts[layer, s, i]. Each thread computes one output
// and moves parts + 1 elements. Without a bias, a buffer must be bound but is not read.

struct Params {
  n: u32,
  inner: u32, // outputs of one image and group
  parts: u32,
  pixels: u32,
  filters: u32, // of all groups
  biased: u32, // whether each filter has a bias
}

@group(0) @binding(0) var<storage, read> parts: array<f32>;
@group(0) @binding(1) var<storage, read> bias: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

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
  if (params.biased != 0u) {
    sum += bias[i / params.pixels % params.filters];
  }
  y[i] = sum;
}
