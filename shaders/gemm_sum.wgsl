// The second half of a matrix product with a divided k: C = f(alpha P + bias + beta C) + residual,
// where P is the sum of the partial products.
//
// The partial products of a matrix are stored one after the other, each contiguous [m, n]. PARTS
// threads share the partial products of one element and add up in workgroup memory. Reads 4mn bytes
// per part.

struct Params {
  m: u32,
  n: u32,
  pieces: u32,
  c_row: u32, // elements from C(i, j) to C(i + 1, j)
  c_batch: u32, // elements from one matrix of the batch to the next
  // bits: 1 a bias of n elements for every row, 2 the residual, with C's layout; float16 are 16 the
  // bias, 32 the residual
  added: u32,
  function: u32, // f: 0 none, 1 relu, 2 gelu, 3 silu, 4 gelu_erf
  alpha: f32,
  beta: f32,
}

@group(0) @binding(0) var<storage, read> products: array<f32>;
@group(0) @binding(1) var<storage, read> bias: array<u32>; // a float each, or two halves
@group(0) @binding(2) var<storage, read> residual: array<u32>;
@group(0) @binding(3) var<storage, read_write> c: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/activation_of_one.wgsl
//#include lib/halves.wgsl

override PARTS: u32 = 1u; // a power of 2

const THREADS = 256u;

var<workgroup> sums: array<f32, THREADS>;

fn bias_at(i: u32) -> f32 {
  if ((params.added & 16u) != 0u) {
    return half_of(bias[i / 2u], i);
  }
  return bitcast<f32>(bias[i]);
}

fn residual_at(i: u32) -> f32 {
  if ((params.added & 32u) != 0u) {
    return half_of(residual[i / 2u], i);
  }
  return bitcast<f32>(residual[i]);
}

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let elements = THREADS / PARTS;
  let size = params.m * params.n;
  let i = (group.y * groups.x + group.x) * elements + thread % elements;
  var sum = 0.0;
  if (i < size) {
    let first = group.z * params.pieces;
    for (var piece = thread / elements; piece < params.pieces; piece += PARTS) {
      sum += products[(first + piece) * size + i];
    }
  }
  if (PARTS > 1u) {
    sums[thread] = sum;
    for (var half = THREADS / 2u; half >= elements; half /= 2u) {
      workgroupBarrier();
      if (thread < half) {
        sums[thread] += sums[thread + half];
      }
    }
    sum = sums[thread % elements];
  }
  if (i >= size || thread >= elements) {
    return;
  }
  let row = i / params.n;
  let column = i % params.n;
  let at = group.z * params.c_batch + row * params.c_row + column;
  var value = params.alpha * sum;
  if ((params.added & 1u) != 0u) {
    value += bias_at(column);
  }
  if (params.beta != 0.0) {
    value += params.beta * c[at];
  }
  value = apply(value, params.function);
  if ((params.added & 2u) != 0u) {
    value += residual_at(at);
  }
  c[at] = value;
}
