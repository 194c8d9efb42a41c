// C = f(alpha A B + bias + beta C) + residual for row-major C and any strides of A and B, for
// batches of matrices that are too small for a workgroup each.
//
// A thread computes one element of any matrix of C, so a workgroup computes many products. Cost:
// 2mnk operations; A is read n times and B m times, almost always from the caches.

struct Params {
  m: u32,
  n: u32,
  k: u32,
  a_row: u32, // elements from A(i, k) to A(i + 1, k)
  a_col: u32, // elements from A(i, k) to A(i, k + 1)
  b_row: u32,
  b_col: u32,
  c_row: u32,
  a_batch: u32, // elements from one matrix of the batch to the next
  b_batch: u32,
  c_batch: u32,
  total: u32, // elements of all C
  added: u32, // as in gemm.wgsl
  function: u32, // f: 0 none, 1 relu, 2 gelu, 3 silu, 4 gelu_erf
  alpha: f32,
  beta: f32, // 0: C is not read
}

@group(0) @binding(0) var<storage, read> a: array<u32>; // a float each, or two halves
@group(0) @binding(1) var<storage, read> b: array<u32>;
@group(0) @binding(2) var<storage, read> bias: array<u32>;
@group(0) @binding(3) var<storage, read> residual: array<u32>;
@group(0) @binding(4) var<storage, read_write> c: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/activation_of_one.wgsl
//#include lib/halves.wgsl

const THREADS = 128u;

fn has(bit: u32) -> bool {
  return (params.added & bit) != 0u;
}

fn a_at(i: u32) -> f32 {
  if (has(4u)) {
    return half_of(a[i >> 1u], i);
  }
  return bitcast<f32>(a[i]);
}

fn b_at(i: u32) -> f32 {
  if (has(8u)) {
    return half_of(b[i >> 1u], i);
  }
  return bitcast<f32>(b[i]);
}

fn bias_at(i: u32) -> f32 {
  if (has(16u)) {
    return half_of(bias[i >> 1u], i);
  }
  return bitcast<f32>(bias[i]);
}

fn residual_at(i: u32) -> f32 {
  if (has(32u)) {
    return half_of(residual[i >> 1u], i);
  }
  return bitcast<f32>(residual[i]);
}

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.y * groups.x * THREADS + id.x;
  if (i >= params.total) {
    return;
  }
  let column = i % params.n;
  let row = i / params.n % params.m;
  let matrix = i / params.n / params.m;
  var from_a = matrix * params.a_batch + row * params.a_row;
  var from_b = matrix * params.b_batch + column * params.b_col;
  var sum = 0.0;
  for (var step = 0u; step < params.k; step++) {
    sum += a_at(from_a) * b_at(from_b);
    from_a += params.a_col;
    from_b += params.b_row;
  }
  let at = matrix * params.c_batch + row * params.c_row + column;
  var value = params.alpha * sum;
  if (has(1u)) {
    value += bias_at(column);
  }
  if (params.beta != 0.0) {
    value += params.beta * c[at];
  }
  value = apply(value, params.function);
  if (has(2u)) {
    value += residual_at(at);
  }
  c[at] = value;
}
