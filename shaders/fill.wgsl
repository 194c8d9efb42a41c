// y[i] = value for i < n. One word a thread: writes 4n bytes.

struct Params {
  n: u32,    // elements
  bits: u32, // the value's bits: NaN and infinities pass unchanged
}

@group(0) @binding(0) var<storage, read_write> y: array<u32>;
@group(1) @binding(0) var<uniform> params: Params;

override THREADS: u32 = 256u; // in a workgroup

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.y * groups.x * THREADS + id.x;
  if (i < params.n) {
    y[i] = params.bits;
  }
}
