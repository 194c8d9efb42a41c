// conv2d_depthwise.wgsl with workgroups of one plane of y, which also write sums of the plane:
// totals[plane, workgroup of the plane]. n is the number of workgroups.

//#include lib/depthwise.wgsl

@group(0) @binding(6) var<storage, read_write> totals: array<f32>;

var<workgroup> parts: array<f32, THREADS>;

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let group = workgroup.y * workgroups.x + workgroup.x;
  if (group >= params.n) {
    return;
  }
  let threads = (params.out_h + 3u) / 4u * params.out_w;
  let groups = (threads + THREADS - 1u) / THREADS;
  let i = group % groups * THREADS + thread;
  var total = 0.0;
  if (i < threads) {
    let place = Place(group / groups, i / params.out_w * 4u, i % params.out_w);
    total = write(place, computed(place));
  }
  parts[thread] = total;
  for (var half = THREADS / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (thread < half) {
      parts[thread] += parts[thread + half];
    }
  }
  if (thread == 0u) {
    totals[group] = parts[0];
  }
}
