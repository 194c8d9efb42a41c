// C = f(alpha A B + bias) + beta C, row-major and contiguous, float16 in memory and float32 sums, by subgroup
// matrices; rows of whole vec4u, that is n and k multiples of 8 or rows padded to such (A's with
// zeros).
//
// A workgroup of four subgroups makes a 32 × 64 tile of C, each 16 × 32 of it in registers,
// 64 steps of k at a time through workgroup memory. The next tiles of A and B are read from memory
// while these are multiplied. Loops are written out, for arrays of matrices make it
// several times slower.
// 2mnk operations; A is read n / 64 times, B m / 32 times.

enable f16;
enable subgroups;
enable chromium_experimental_subgroup_matrix;

diagnostic(off, chromium.subgroup_matrix_uniformity);

struct Params {
  m: u32,
  n: u32,
  k: u32,
  alpha: f32,
  beta: f32,
  biased: u32, // whether there is a bias, of n halves for every row
}

@group(0) @binding(0) var<storage, read> a: array<vec4u>; // eight halves each
@group(0) @binding(1) var<storage, read> b: array<vec4u>;
@group(0) @binding(2) var<storage, read> bias: array<vec4u>;
@group(0) @binding(3) var<storage, read_write> c: array<vec4u>;
@group(1) @binding(0) var<uniform> params: Params;

override FUNCTION: u32 = 0u; // f: 0 none, 1 relu, 2 gelu, 3 silu, 4 gelu_erf

alias Left = subgroup_matrix_left<f16, 16, 16>;
alias Right = subgroup_matrix_right<f16, 16, 16>;
alias Sum = subgroup_matrix_result<f32, 16, 16>;

const ROWS = 32u; // of the tile of C
const COLUMNS = 64u;
const DEPTH = 64u;
const THREADS = 128u;
const TALL = 8u; // tiles, of a group of tiles that share their columns of B in the cache

// Pitches in vec4u. Odd ones, so that a matrix's rows start in different banks.
const A_PITCH = 9u;
const B_PITCH = 5u;
const C_PITCH = 5u;

// One array for each 16 rows of A and one for each 32 columns of B: the compiler checks no bounds
// where a matrix's place in an array is a constant.
var<workgroup> a_tile: array<array<vec4u, 16u * A_PITCH>, 2>;
var<workgroup> b_tile: array<array<vec4u, DEPTH * B_PITCH>, 2>;
var<workgroup> c_tile: array<array<vec4u, 16u * C_PITCH>, 4>; // sums of each subgroup

fn from_halves(bits: vec2u) -> vec4f {
  return vec4f(unpack2x16float(bits.x), unpack2x16float(bits.y));
}

fn to_halves(x: vec4f) -> vec2u {
  return vec2u(bitcast<u32>(vec2h(x.xy)), bitcast<u32>(vec2h(x.zw)));
}

// See unary.wgsl for these forms.
fn erfc_positive(z: vec4f) -> vec4f {
  let t = 1.0 / (1.0 + 0.5 * z);
  let p = -1.26551223 + t * (1.00002368 + t * (0.37409196 + t * (0.09678418 + t * (-0.18628806
    + t * (0.27886807 + t * (-1.13520398 + t * (1.48851587 + t * (-0.82215223
    + t * 0.17087277))))))));
  return t * exp(p - z * z);
}

fn apply(v: vec4f) -> vec4f {
  var value = v;
  switch (FUNCTION) {
    case 1u: { value = max(v, vec4f(0.0)); }
    case 2u: { value = v / (1.0 + exp(-1.5957691216057308 * (v + 0.044715 * v * v * v))); }
    case 3u: { value = v / (1.0 + exp(-v)); }
    case 4u: {
      let tail = 0.5 * erfc_positive(abs(v) * 0.7071067811865476);
      value = v * select(1.0 - tail, tail, v < vec4f(0.0));
    }
    default: { return v; }
  }
  let is_nan = (bitcast<vec4u>(v) & vec4u(0x7fffffffu)) > vec4u(0x7f800000u);
  return select(value, v, is_nan);
}

// Writes one matrix of sums to C's elements from (row, column) on.
fn write(sum: Sum, subgroup: u32, lane: u32, row: u32, column: u32) {
  let tile = &c_tile[subgroup];
  subgroupMatrixStore<row_major>(tile, 0u, sum, C_PITCH);
  workgroupBarrier();
  let i = row + lane / 2u;
  let j = column / 8u + lane % 2u;
  let width = (params.n + 7u) / 8u;
  if (i < params.m && j < width) {
    let at = lane / 2u * C_PITCH + lane % 2u * 2u;
    var low = params.alpha * bitcast<vec4f>(tile[at]);
    var high = params.alpha * bitcast<vec4f>(tile[at + 1u]);
    if (params.biased != 0u) {
      let eight = bias[j];
      low += from_halves(eight.xy);
      high += from_halves(eight.zw);
    }
    low = apply(low);
    high = apply(high);
    if (params.beta != 0.0) {
      let old = c[i * width + j];
      low += params.beta * from_halves(old.xy);
      high += params.beta * from_halves(old.zw);
    }
    c[i * width + j] = vec4u(to_halves(low), to_halves(high));
  }
  workgroupBarrier();
}

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
  @builtin(subgroup_id) subgroup: u32,
  @builtin(subgroup_invocation_id) lane: u32,
) {
  let tiles_across = (params.n + COLUMNS - 1u) / COLUMNS;
  let tiles_down = (params.m + ROWS - 1u) / ROWS;
  let tile = group.y * groups.x + group.x;
  if (tile >= tiles_across * tiles_down) {
    return;
  }
  let first = tile / (TALL * tiles_across) * TALL; // row of tiles, of a group
  let tall = min(tiles_down - first, TALL);
  let in_group = tile % (TALL * tiles_across);
  let row0 = (first + in_group % tall) * ROWS;
  let column0 = in_group / tall * COLUMNS;
  let sub_row = subgroup / 2u;
  let sub_column = subgroup % 2u;

  // What this thread brings into workgroup memory. Rows and columns beyond the edge are replaced by
  // the last ones: they only make sums that are not written.
  let a_width = (params.k + 7u) / 8u;
  let b_width = (params.n + 7u) / 8u;
  let a_row = thread / 8u;
  let a_column = thread % 8u;
  let b_row = thread / 8u;
  let b_column = thread % 8u;
  let last = params.m - 1u;
  let a_at0 = min(row0 + a_row, last) * a_width + a_column;
  let a_at1 = min(row0 + a_row + 16u, last) * a_width + a_column;
  let b_at0 = b_row * b_width + min(column0 / 8u + b_column, b_width - 1u);
  let b_at1 = b_at0 + 16u * b_width;
  let b_at2 = b_at0 + 32u * b_width;
  let b_at3 = b_at0 + 48u * b_width;
  let a_to = a_row * A_PITCH + a_column;
  let b_side = b_column / 4u;
  let b_to = b_row * B_PITCH + b_column % 4u;

  var next_a0 = a[a_at0];
  var next_a1 = a[a_at1];
  var next_b0 = b[b_at0];
  var next_b1 = b[b_at1];
  var next_b2 = b[b_at2];
  var next_b3 = b[b_at3];
  var sum00 = Sum();
  var sum01 = Sum();
  for (var k0 = 0u; k0 < params.k; k0 += DEPTH) {
    // Masked here and not where it is read, for that would wait for the memory.
    if (k0 + DEPTH > params.k) { // what lies behind k counts as zero
      let inside = k0 / 8u + a_column < a_width;
      next_a0 = select(vec4u(), next_a0, inside);
      next_a1 = select(vec4u(), next_a1, inside);
      next_b0 = select(vec4u(), next_b0, k0 + b_row < params.k);
      next_b1 = select(vec4u(), next_b1, k0 + b_row + 16u < params.k);
      next_b2 = select(vec4u(), next_b2, k0 + b_row + 32u < params.k);
      next_b3 = select(vec4u(), next_b3, k0 + b_row + 48u < params.k);
    }
    a_tile[0][a_to] = next_a0;
    a_tile[1][a_to] = next_a1;
    b_tile[b_side][b_to] = next_b0;
    b_tile[b_side][b_to + 16u * B_PITCH] = next_b1;
    b_tile[b_side][b_to + 32u * B_PITCH] = next_b2;
    b_tile[b_side][b_to + 48u * B_PITCH] = next_b3;
    workgroupBarrier();
    let k1 = k0 + DEPTH;
    if (k1 < params.k) { // the next tiles come while these are multiplied
      next_a0 = a[a_at0 + k1 / 8u];
      next_a1 = a[a_at1 + k1 / 8u];
      next_b0 = b[b_at0 + k1 * b_width];
      next_b1 = b[b_at1 + k1 * b_width];
      next_b2 = b[b_at2 + k1 * b_width];
      next_b3 = b[b_at3 + k1 * b_width];
    }
    let left = &a_tile[sub_row];
    let right = &b_tile[sub_column];
    { // steps 0 to 15
      let a0 = subgroupMatrixLoad<Left, row_major>(left, 0u, A_PITCH);
      let b0 = subgroupMatrixLoad<Right, row_major>(right, 0u, B_PITCH);
      sum00 = subgroupMatrixMultiplyAccumulate(a0, b0, sum00);
      let b1 = subgroupMatrixLoad<Right, row_major>(right, 2u, B_PITCH);
      sum01 = subgroupMatrixMultiplyAccumulate(a0, b1, sum01);
    }
    { // steps 16 to 31
      let a0 = subgroupMatrixLoad<Left, row_major>(left, 2u, A_PITCH);
      let b0 = subgroupMatrixLoad<Right, row_major>(right, 16u * B_PITCH, B_PITCH);
      sum00 = subgroupMatrixMultiplyAccumulate(a0, b0, sum00);
      let b1 = subgroupMatrixLoad<Right, row_major>(right, 16u * B_PITCH + 2u, B_PITCH);
      sum01 = subgroupMatrixMultiplyAccumulate(a0, b1, sum01);
    }
    { // steps 32 to 47
      let a0 = subgroupMatrixLoad<Left, row_major>(left, 4u, A_PITCH);
      let b0 = subgroupMatrixLoad<Right, row_major>(right, 32u * B_PITCH, B_PITCH);
      sum00 = subgroupMatrixMultiplyAccumulate(a0, b0, sum00);
      let b1 = subgroupMatrixLoad<Right, row_major>(right, 32u * B_PITCH + 2u, B_PITCH);
      sum01 = subgroupMatrixMultiplyAccumulate(a0, b1, sum01);
    }
    { // steps 48 to 63
      let a0 = subgroupMatrixLoad<Left, row_major>(left, 6u, A_PITCH);
      let b0 = subgroupMatrixLoad<Right, row_major>(right, 48u * B_PITCH, B_PITCH);
      sum00 = subgroupMatrixMultiplyAccumulate(a0, b0, sum00);
      let b1 = subgroupMatrixLoad<Right, row_major>(right, 48u * B_PITCH + 2u, B_PITCH);
      sum01 = subgroupMatrixMultiplyAccumulate(a0, b1, sum01);
    }
    workgroupBarrier();
  }

  let row = row0 + sub_row * 16u;
  let column = column0 + sub_column * 32u;
  write(sum00, subgroup, lane, row, column);
  write(sum01, subgroup, lane, row, column + 16u);
}
