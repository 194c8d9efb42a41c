// C from the product of split operands (split_halves.wgsl): each element times the power of two
// that undoes the scaling of its row and column.
//
// If a row of A or a column of B is not finite, or their product might not be, the element is
// computed here from the original operands. Infinities and NaN are then those of float32. This
// costs 2k operations per such element, and nothing if all are finite. All matrices are row-major
// and contiguous: A, B and C from their elements `first_…` on, and rows of `products` padded to
// multiples of 8. One thread per element. Reads and writes every element once, so it is limited by
// memory bandwidth.

struct Params {
  m: u32,
  n: u32,
  k: u32,
  first_a: u32,
  first_b: u32,
  first_c: u32,
}

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read> largest_a: array<u32>;
@group(0) @binding(3) var<storage, read> largest_b: array<u32>;
@group(0) @binding(4) var<storage, read> products: array<f32>;
@group(0) @binding(5) var<storage, read_write> c: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/split_scale.wgsl

override THREADS: u32 = 256u;

// Whether a sum of k products of magnitudes up to these may reach 2^127, or is not finite anyway.
fn may_overflow(a_most: u32, b_most: u32) -> bool {
  let a_bound = a_most >> 23u; // the magnitudes are below 2^(a_bound - 126)
  let b_bound = b_most >> 23u;
  let k_bound = firstLeadingBit(params.k) + 1u; // k is below 2^k_bound
  return max(a_most, b_most) >= NOT_FINITE || a_bound + b_bound + k_bound > 252u + 127u;
}

fn sum(row: u32, column: u32) -> f32 {
  let a_at = params.first_a + row * params.k;
  let b_at = params.first_b + column;
  var total = 0.0;
  for (var i = 0u; i < params.k; i++) {
    total += a[a_at + i] * b[b_at + i * params.n];
  }
  return total;
}

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_id) local: vec3u,
) {
  let i = (group.y * groups.x + group.x) * THREADS + local.x;
  let row = i / params.n;
  if (row >= params.m) {
    return;
  }
  let column = i % params.n;
  let a_most = largest_a[row];
  let b_most = largest_b[column];
  var value = 0.0;
  if (may_overflow(a_most, b_most)) {
    value = sum(row, column);
  } else {
    let at = row * ((params.n + 7u) / 8u * 8u) + column;
    value = scaled_back(products[at], a_most, b_most);
  }
  c[params.first_c + i] = value;
}
