// Pooling of the windows of [planes, height, width]: y[z, p, q] is the maximum or the mean over r,
// s of x[z, p stride_h + r dilation_h - pad_h, q stride_w + s dilation_w - pad_w].
//
// One output per thread, which reads its kernel_h × kernel_w window through the cache. Positions
// outside x never win a maximum and add nothing to a mean. NaN propagates. A window without a
// position in x gives -infinity (index -1) as its maximum and NaN as its mean. main_indices also
// writes the position of a maximum in its plane: row × width + column, the first among equals.

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<storage, read_write> indices: array<i32>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/pooling.wgsl
//#include lib/pooling_params.wgsl

override THREADS: u32 = 256u; // in a workgroup

fn element(at: u32) -> f32 {
  return x[at];
}

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.y * groups.x * THREADS + id.x;
  if (i >= params.n) {
    return;
  }
  y[i] = pooled(i);
}

@compute @workgroup_size(THREADS)
fn main_indices(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.y * groups.x * THREADS + id.x;
  if (i >= params.n) {
    return;
  }
  let found = maximum(i);
  y[i] = found.value;
  indices[i] = found.index;
}
