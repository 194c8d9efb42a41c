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

//#include lib/gemm_f16_matrix.wgsl

const ROWS = 32u; // of the tile of C
const COLUMNS = 64u;
const DEPTH = 64u;
const THREADS = 128u;

// Pitches in vec4u. Odd ones, so that a matrix's rows start in different banks.
const A_PITCH = 9u;
const B_PITCH = 5u;

// One array for each 16 rows of A and one for each 32 columns of B: the compiler checks no bounds
// where a matrix's place in an array is a constant.
var<workgroup> a_tile: array<array<vec4u, 16u * A_PITCH>, 2>;
var<workgroup> b_tile: array<array<vec4u, DEPTH * B_PITCH>, 2>;

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
  @builtin(subgroup_id) subgroup: u32,
  @builtin(subgroup_invocation_id) lane: u32,
) {
  let tile = tile_of(group, groups);
  if (tile.is_outside) {
    return;
  }
  let row0 = tile.row;
  let column0 = tile.column;
  c_first = group.z * (params.c_batch / 8u);
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
  let a_first = group.z * (params.a_batch / 8u) + a_column;
  let a_at0 = a_first + min(row0 + a_row, last) * a_width;
  let a_at1 = a_first + min(row0 + a_row + 16u, last) * a_width;
  let b_first = group.z * (params.b_batch / 8u);
  let b_at0 = b_first + b_row * b_width + min(column0 / 8u + b_column, b_width - 1u);
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
