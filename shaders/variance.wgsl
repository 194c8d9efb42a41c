// y[i] = scale × deviations[i] for i < n, from the triples of moments.wgsl. scale is 1 / (count -
// ddof), infinite where that is 1/0. One element a thread.

struct Params {
  n: u32,
  scale: f32,
}

@group(0) @binding(0) var<storage, read> moments: array<f32>; // count, mean, deviations
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

override THREADS: u32 = 256u; // in a workgroup

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.y * groups.x * THREADS + id.x;
  if (i < params.n) {
    y[i] = moments[3u * i + 2u] * params.scale;
  }
}
