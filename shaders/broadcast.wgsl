// y[i] = a[j] op b[k] for i < n, where a and b are broadcast: i is taken apart into up to five
// indices, outermost first, and j and k are their sums with strides of 0 along broadcast axes.
//
// One element a thread: writes 4n bytes and reads each operand through the cache. The caller
// merges neighbouring axes, so that RANK, the number of indices, is as small as it can be. Whole
// numbers are computed modulo 2^32, which has the same bits for i32 and u32.

struct Params {
  n: u32,
  extent1: u32, // of the second index; the first needs none
  extent2: u32,
  extent3: u32,
  extent4: u32,
  a0: u32, // elements of a from one first index to the next
  a1: u32,
  a2: u32,
  a3: u32,
  a4: u32,
  b0: u32,
  b1: u32,
  b2: u32,
  b3: u32,
  b4: u32,
}

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read> b: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;
@group(1) @binding(0) var<uniform> params: Params;

// 0 add, 1 sub, 2 mul, 3 div of float32; 4 add, 5 sub, 6 mul of whole numbers
override OP: u32 = 0u;
override RANK: u32 = 5u; // indices in use
override THREADS: u32 = 256u; // in a workgroup

fn apply(p: u32, q: u32) -> u32 {
  switch (OP) {
    case 0u: { return bitcast<u32>(bitcast<f32>(p) + bitcast<f32>(q)); }
    case 1u: { return bitcast<u32>(bitcast<f32>(p) - bitcast<f32>(q)); }
    case 2u: { return bitcast<u32>(bitcast<f32>(p) * bitcast<f32>(q)); }
    case 3u: { return bitcast<u32>(bitcast<f32>(p) / bitcast<f32>(q)); }
    case 4u: { return p + q; }
    case 5u: { return p - q; }
    default: { return p * q; }
  }
}

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.y * groups.x * THREADS + id.x;
  if (i >= params.n) {
    return;
  }
  var rest = i;
  var at_a = 0u;
  var at_b = 0u;
  if (RANK > 4u) {
    at_a += rest % params.extent4 * params.a4;
    at_b += rest % params.extent4 * params.b4;
    rest /= params.extent4;
  }
  if (RANK > 3u) {
    at_a += rest % params.extent3 * params.a3;
    at_b += rest % params.extent3 * params.b3;
    rest /= params.extent3;
  }
  if (RANK > 2u) {
    at_a += rest % params.extent2 * params.a2;
    at_b += rest % params.extent2 * params.b2;
    rest /= params.extent2;
  }
  at_a += rest % params.extent1 * params.a1;
  at_b += rest % params.extent1 * params.b1;
  rest /= params.extent1;
  y[i] = apply(a[at_a + rest * params.a0], b[at_b + rest * params.b0]);
}
