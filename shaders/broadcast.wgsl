// y[i] = a[j] op b[k] for i < n, where a and b are broadcast: i is taken apart into up to five
// indices, outermost first, and j and k are their sums with strides of 0 along broadcast axes.
//
// One element a thread: writes 4n bytes and reads each operand through the cache. main_vectors
// takes four at once, where the innermost extent is a multiple of 4. The caller merges neighbouring
// axes, so that RANK, the number of indices, is as small as it can be. Whole numbers are computed
// modulo 2^32, which has the same bits for i32 and u32.

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
@group(0) @binding(0) var<storage, read> a_vectors: array<vec4u>;
@group(0) @binding(1) var<storage, read> b: array<u32>;
@group(0) @binding(1) var<storage, read> b_vectors: array<vec4u>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;
@group(0) @binding(2) var<storage, read_write> y_vectors: array<vec4u>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/broadcast.wgsl

// 0 add, 1 sub, 2 mul, 3 div of float32; 4 integer_add, 5 integer_sub, 6 integer_mul
override OP: u32 = 0u;
override THREADS: u32 = 256u; // in a workgroup

fn apply(p: vec4u, q: vec4u) -> vec4u {
  switch (OP) {
    case 0u: { return bitcast<vec4u>(bitcast<vec4f>(p) + bitcast<vec4f>(q)); }
    case 1u: { return bitcast<vec4u>(bitcast<vec4f>(p) - bitcast<vec4f>(q)); }
    case 2u: { return bitcast<vec4u>(bitcast<vec4f>(p) * bitcast<vec4f>(q)); }
    case 3u: { return bitcast<vec4u>(bitcast<vec4f>(p) / bitcast<vec4f>(q)); }
    case 4u: { return p + q; }
    case 5u: { return p - q; }
    case 6u, default: { return p * q; }
  }
}

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.y * groups.x * THREADS + id.x;
  if (i >= params.n) {
    return;
  }
  let at = sources(i);
  y[i] = apply(vec4u(a[at.x]), vec4u(b[at.y])).x;
}

// From one innermost index to the next, in a and b.
fn innermost() -> vec2u {
  switch (RANK) {
    case 5u: { return vec2u(params.a4, params.b4); }
    case 4u: { return vec2u(params.a3, params.b3); }
    case 3u: { return vec2u(params.a2, params.b2); }
    default: { return vec2u(params.a1, params.b1); }
  }
}

// The vec4 at a word: the next four, or the same one four times where it is broadcast.
fn spread(v: vec4u, at: u32, is_whole: bool) -> vec4u {
  return select(vec4u(v[at % 4u]), v, is_whole);
}

@compute @workgroup_size(THREADS)
fn main_vectors(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.y * groups.x * THREADS + id.x;
  if (i >= params.n / 4u) {
    return;
  }
  let at = sources(4u * i);
  let steps = innermost();
  y_vectors[i] = apply(
    spread(a_vectors[at.x / 4u], at.x, steps.x != 0u),
    spread(b_vectors[at.y / 4u], at.y, steps.y != 0u));
}
