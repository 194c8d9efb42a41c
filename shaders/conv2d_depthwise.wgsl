// Two-dimensional cross-correlation in which each filter sees only one channel (groups = channels),
// NCHW, otherwise as in conv2d.wgsl: y[n, f, p, q] = sum over r, s of x[n, c, p stride_h + r
// dilation_h - pad_h, q …] w[f, r, s] with c = f / (filters per group).
//
// A thread computes 4 vertically adjacent pixels. Neighbouring threads then access neighbouring
// elements of x and y, and a weight is read once for 4 products. Overlapping windows are left to
// the caches. n counts threads: the planes of y × ceil(out_h / 4) × out_w. Cost: 2 N F P Q R S
// operations. With BIAS, each filter has a bias. For a missing bias, scale or residual, a buffer
// must be bound but is not read.

//#include lib/depthwise.wgsl

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
  let rows = (params.out_h + 3u) / 4u;
  let across = i / params.out_w;
  let place = Place(across / rows, across % rows * 4u, i % params.out_w);
  _ = write(place, computed(place));
}
