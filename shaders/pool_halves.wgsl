// pool.wgsl for float16: two outputs per thread, computed in float32.

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/halves.wgsl
//#include lib/pooling.wgsl
//#include lib/pooling_params.wgsl

override THREADS: u32 = 256u; // in a workgroup

fn element(at: u32) -> f32 {
  return half_of(x[at >> 1u], at);
}

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = 2u * (id.y * groups.x * THREADS + id.x);
  if (i >= params.n) {
    return;
  }
  let first = pooled(i);
  var second = 0.0;
  if (i + 1u < params.n) {
    second = pooled(i + 1u);
  }
  y[i >> 1u] = narrowed(vec4f(first, second, 0.0, 0.0)).x;
}
