// y[i] = value for i < n. One vec4 per thread: writes 4n bytes. Words past n in the last vec4 keep
// their value.

struct Params {
  n: u32,    // elements
  bits: u32, // the value's bits: NaN and infinities pass unchanged
}

@group(0) @binding(0) var<storage, read_write> y: array<vec4u>;
@group(1) @binding(0) var<uniform> params: Params;

override THREADS: u32 = 256u; // in a workgroup

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.y * groups.x * THREADS + id.x;
  if (i < params.n / 4u) {
    y[i] = vec4u(params.bits);
  } else if (4u * i < params.n) {
    y[i] = select(y[i], vec4u(params.bits), vec4u(0u, 1u, 2u, 3u) < vec4u(params.n % 4u));
  }
}
