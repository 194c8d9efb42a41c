// The products A B of float16 matrices by subgroup matrices, with float32 sums, for files that
// enable subgroups and subgroup matrices, and declare
//
//   params        with m, n, k, a_batch, b_batch and c_batch
//   c_first       this layer's first element of C
//   C_SHIFT       the elements of C's array are 1 << C_SHIFT halves
//   write()       computes the elements of C from a matrix of sums
//
// A workgroup computes a tile of ROWS × COLUMNS of C. Each subgroup keeps SUB_ROWS × SUB_COLUMNS of
// it in registers. DEPTH steps of k go through workgroup memory at a time. The next tiles of A and B
// are read from memory while the current ones are multiplied. Loops are repeated in the text, since
// arrays of matrices make it several times slower.

//#include lib/tiles.wgsl

override ROWS: u32 = 64u;
override COLUMNS: u32 = 64u;
override DEPTH: u32 = 64u;
override SUB_ROWS: u32 = 32u;
override SUB_COLUMNS: u32 = 64u;
override THREADS = 32u * (ROWS / SUB_ROWS) * (COLUMNS / SUB_COLUMNS);

// Numbers of repeated lines: vec4us of A and of B that a thread reads, matrices of a subgroup, and
// matrices along DEPTH.
override A_READS: u32 = 8u;
override B_READS: u32 = 8u;
override DOWN: u32 = 2u;
override ACROSS: u32 = 4u;
override STEPS: u32 = 4u;

// Rows from one read of a thread to its next. The text that is compiled has constants above.
const A_SPAN = THREADS / (DEPTH / 8u);
//#if TURNED
const B_SPAN = THREADS / (DEPTH / 8u);
//#else
const B_SPAN = THREADS / (COLUMNS / 8u);
//#endif

// Pitches in vec4u. They are odd, so that the rows of a matrix start in different banks.
override A_PITCH = DEPTH / 8u + 1u;
override B_PITCH: u32 = 9u;
override B_LINES: u32 = 64u; // rows of B's tile for a subgroup: steps, or columns with TURNED
override TURNED: u32 = 0u;
override VECTORS: u32 = 1u; // 0 if the rows of B have any length, without padding
const C_PITCH = 5u;

@group(0) @binding(0) var<storage, read> a: array<vec4u>; // eight halves each

//#if VECTORS
@group(0) @binding(1) var<storage, read> b: array<vec4u>;

const B_EIGHT = 1u; // elements of B's array in eight halves

fn b_elements(halves: u32) -> u32 {
  return halves / 8u;
}

// Elements of B's array from a row to the next.
fn b_pitch() -> u32 {
  return (params.n + 7u) / 8u;
}

fn b_eight(at: u32) -> vec4u {
  return b[at];
}
//#else
@group(0) @binding(1) var<storage, read> b: array<u32>; // positions count halves, two in a word

const B_EIGHT = 8u;

fn b_elements(halves: u32) -> u32 {
  return halves;
}

fn b_pitch() -> u32 {
  return params.n;
}

fn b_eight(at: u32) -> vec4u {
  let i = at >> 1u;
  let words = vec4u(b[i], b[i + 1u], b[i + 2u], b[i + 3u]);
  let next = vec4u(words.yzw, b[i + 4u]);
  let between = (words >> vec4u(16u)) | (next << vec4u(16u));
  return select(words, between, (at & 1u) != 0u);
}
//#endif

alias Left = subgroup_matrix_left<f16, 16, 16>;
alias Right = subgroup_matrix_right<f16, 16, 16>;
alias Sum = subgroup_matrix_result<f32, 16, 16>;

// One array for the rows of A of a subgroup, and one for its columns of B: the compiler checks no
// bounds if the position of a matrix in an array is a constant.
var<workgroup> a_tile: array<array<vec4u, SUB_ROWS * A_PITCH>, ROWS / SUB_ROWS>;
var<workgroup> b_tile: array<array<vec4u, B_LINES * B_PITCH>, COLUMNS / SUB_COLUMNS>;
var<workgroup> c_tile: array<array<vec4u, 16u * C_PITCH>, THREADS / 32u>; // sums of each subgroup

fn to_halves(x: vec4f) -> vec2u {
  return vec2u(bitcast<u32>(vec2h(x.xy)), bitcast<u32>(vec2h(x.zw)));
}

// Computes the tile of a workgroup.
fn multiply(group: vec3u, groups: vec3u, thread: u32, subgroup: u32, lane: u32) {
  let tile = tile_of(group, groups);
  if (tile.is_outside) {
    return;
  }
  let row0 = tile.row;
  let column0 = tile.column;
  c_first = group.z * (params.c_batch >> C_SHIFT);
  let sub_row = subgroup / (COLUMNS / SUB_COLUMNS);
  let sub_column = subgroup % (COLUMNS / SUB_COLUMNS);

  // What this thread reads. Rows and columns beyond the edge are replaced by the last ones: they
  // only contribute to sums that are not written.
  let a_width = (params.k + 7u) / 8u;
  //#if TURNED
  let b_width = a_width;
  //#else
  let b_width = b_pitch();
  //#endif
  let a_row = thread / (DEPTH / 8u);
  let a_column = thread % (DEPTH / 8u);
  //#if TURNED
  let b_row = thread / (DEPTH / 8u);
  let b_column = thread % (DEPTH / 8u);
  //#else
  let b_row = thread / (COLUMNS / 8u);
  let b_column = thread % (COLUMNS / 8u);
  //#endif
  let last = params.m - 1u;
  let a_first = group.z * (params.a_batch / 8u) + a_column;
  //#repeat READ A_READS
  let a_at_READ = a_first + min(row0 + a_row + READ * A_SPAN, last) * a_width;
  //#end
  let b_first = group.z * b_elements(params.b_batch);
  //#if TURNED
  // Not limited to B's rows, which costs registers: memory beyond is not read.
  let b_at = b_first + b_column + (column0 + b_row) * b_width;
  //#else
  let b_last = (params.n + 7u) / 8u - 1u;
  let b_at = b_first + b_row * b_width + min(column0 / 8u + b_column, b_last) * B_EIGHT;
  //#endif
  //#repeat READ B_READS
  let b_at_READ = b_at + READ * B_SPAN * b_width;
  //#end
  let a_to = a_row * A_PITCH + a_column;
  //#if TURNED
  let b_to = b_row * B_PITCH + b_column;
  //#else
  let b_side = b_column / (SUB_COLUMNS / 8u);
  let b_to = b_row * B_PITCH + b_column % (SUB_COLUMNS / 8u);
  //#endif

  //#repeat READ A_READS
  var next_a_READ = a[a_at_READ];
  //#end
  //#repeat READ B_READS
  var next_b_READ = b_eight(b_at_READ);
  //#end
  //#repeat I DOWN
  //#repeat J ACROSS
  var sum_I_J = Sum();
  //#end
  //#end
  for (var k0 = 0u; k0 < params.k; k0 += DEPTH) {
    // Masked here and not where it is read, since that would wait for the memory.
    if (k0 + DEPTH > params.k) { // elements beyond k count as zero
      let inside = k0 / 8u + a_column < a_width;
      //#repeat READ A_READS
      next_a_READ = select(vec4u(), next_a_READ, inside);
      //#end
      //#repeat READ B_READS
      //#if TURNED
      next_b_READ = select(vec4u(), next_b_READ, inside);
      //#else
      next_b_READ = select(vec4u(), next_b_READ, k0 + b_row + READ * B_SPAN < params.k);
      //#endif
      //#end
    }
    //#repeat READ A_READS
    a_tile[READ * A_SPAN / SUB_ROWS][a_to + READ * A_SPAN % SUB_ROWS * A_PITCH] = next_a_READ;
    //#end
    //#repeat READ B_READS
    //#if TURNED
    b_tile[READ * B_SPAN / SUB_COLUMNS][b_to + READ * B_SPAN % SUB_COLUMNS * B_PITCH] = next_b_READ;
    //#else
    b_tile[b_side][b_to + READ * B_SPAN * B_PITCH] = next_b_READ;
    //#endif
    //#end
    workgroupBarrier();
    let k1 = k0 + DEPTH;
    if (k1 < params.k) { // the next tiles are read while the current ones are multiplied
      //#repeat READ A_READS
      next_a_READ = a[a_at_READ + k1 / 8u];
      //#end
      //#repeat READ B_READS
      //#if TURNED
      next_b_READ = b_eight(b_at_READ + k1 / 8u);
      //#else
      next_b_READ = b_eight(b_at_READ + k1 * b_width);
      //#endif
      //#end
    }
    let left = &a_tile[sub_row];
    let right = &b_tile[sub_column];
    //#repeat STEP STEPS
    {
      //#repeat I DOWN
      let a_I = subgroupMatrixLoad<Left, row_major>(left, 16u * I * A_PITCH + 2u * STEP, A_PITCH);
      //#end
      //#repeat J ACROSS
      //#if TURNED
      let b_J = subgroupMatrixLoad<Right, col_major>(
        right, 16u * J * B_PITCH + 2u * STEP, B_PITCH);
      //#else
      let b_J = subgroupMatrixLoad<Right, row_major>(
        right, 16u * STEP * B_PITCH + 2u * J, B_PITCH);
      //#endif
      //#repeat I DOWN
      sum_I_J = subgroupMatrixMultiplyAccumulate(a_I, b_J, sum_I_J);
      //#end
      //#end
    }
    //#end
    workgroupBarrier();
  }

  let row = row0 + sub_row * SUB_ROWS;
  let column = column0 + sub_column * SUB_COLUMNS;
  //#repeat I DOWN
  //#repeat J ACROSS
  write(sum_I_J, subgroup, lane, row + 16u * I, column + 16u * J);
  //#end
  //#end
}
