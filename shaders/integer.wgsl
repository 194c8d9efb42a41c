// y[i] = a[i] op b[i] for whole numbers, i < n. Addition, subtraction and multiplication modulo
// 2^32 have the same bits for i32 and u32. One word a thread.

struct Params {
  n: u32,
}

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read> b: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;
@group(1) @binding(0) var<uniform> params: Params;

override THREADS: u32 = 256u; // in a workgroup
// 0 add, 1 sub, 2 mul
override OP: u32 = 0u;

fn apply(p: u32, q: u32) -> u32 {
  switch (OP) {
    case 0u: { return p + q; }
    case 1u: { return p - q; }
    case 2u, default: { return p * q; }
  }
}

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.y * groups.x * THREADS + id.x;
  if (i < params.n) {
    y[i] = apply(a[i], b[i]);
  }
}
