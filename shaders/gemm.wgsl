// C = alpha A B + beta C for row-major C and any strides of A and B, batched.
//
// The general kernel: transposes are strides, so one form serves them all. A workgroup of 16 × 16
// threads makes a 64 × 64 tile of C, 16 steps of k at a time through workgroup memory; a thread
// keeps 4 × 4 sums in registers. 2mnk operations; A is read n/64 times and B m/64 times.
// beta = 0 never reads C. Tiles are numbered along one index over a folded grid, so that any
// m and n fit; z is the batch. With BIAS, a vector of n elements is added to every row of C;
// without, the binding must be there but is not read.

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
  first_batch: u32,
  alpha: f32,
  beta: f32,
}

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read> bias: array<f32>;
@group(0) @binding(3) var<storage, read_write> c: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

override BIAS: u32 = 0u;

const TILE = 64u;
const DEPTH = 16u;
const PITCH = 68u; // TILE padded by 4 words, so that column writes spread over the banks

var<workgroup> a_tile: array<f32, DEPTH * PITCH>; // transposed: [k][row]
var<workgroup> b_tile: array<f32, DEPTH * PITCH>; // [k][column]

// Threads walk along the direction in which memory is contiguous.
fn load_a(thread: u32, row0: u32, k0: u32, base: u32) {
  for (var i = thread; i < TILE * DEPTH; i += 256u) {
    let along_k = params.a_col == 1u;
    let r = select(i % TILE, i / DEPTH, along_k);
    let d = select(i / TILE, i % DEPTH, along_k);
    let row = row0 + r;
    let depth = k0 + d;
    var value = 0.0;
    if (row < params.m && depth < params.k) {
      value = a[base + row * params.a_row + depth * params.a_col];
    }
    a_tile[d * PITCH + r] = value;
  }
}

fn load_b(thread: u32, column0: u32, k0: u32, base: u32) {
  for (var i = thread; i < TILE * DEPTH; i += 256u) {
    let along_k = params.b_row == 1u;
    let col = select(i % TILE, i / DEPTH, along_k);
    let d = select(i / TILE, i % DEPTH, along_k);
    let column = column0 + col;
    let depth = k0 + d;
    var value = 0.0;
    if (column < params.n && depth < params.k) {
      value = b[base + depth * params.b_row + column * params.b_col];
    }
    b_tile[d * PITCH + col] = value;
  }
}

fn store(row: u32, column: u32, sums: vec4f, base: u32) {
  if (row >= params.m) {
    return;
  }
  for (var j = 0u; j < 4u; j++) {
    if (column + j < params.n) {
      let at = base + row * params.c_row + column + j;
      var value = params.alpha * sums[j];
      if (BIAS != 0u) {
        value += bias[column + j];
      }
      if (params.beta != 0.0) {
        value += params.beta * c[at];
      }
      c[at] = value;
    }
  }
}

@compute @workgroup_size(16, 16)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_id) local: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let tile_columns = (params.n + TILE - 1u) / TILE;
  let tile_rows = (params.m + TILE - 1u) / TILE;
  let tile = group.y * groups.x + group.x;
  if (tile >= tile_rows * tile_columns) {
    return;
  }
  let row0 = tile / tile_columns * TILE;
  let column0 = tile % tile_columns * TILE;
  let batch = params.first_batch + group.z;
  let a_base = batch * params.a_batch;
  let b_base = batch * params.b_batch;
  let c_base = batch * params.c_batch;

  var sums0 = vec4f();
  var sums1 = vec4f();
  var sums2 = vec4f();
  var sums3 = vec4f();
  let my_row = 4u * local.y;
  let my_column = 4u * local.x;
  for (var k0 = 0u; k0 < params.k; k0 += DEPTH) {
    load_a(thread, row0, k0, a_base);
    load_b(thread, column0, k0, b_base);
    workgroupBarrier();
    for (var d = 0u; d < DEPTH; d++) {
      let at_a = d * PITCH + my_row;
      let at_b = d * PITCH + my_column;
      let row = vec4f(b_tile[at_b], b_tile[at_b + 1u], b_tile[at_b + 2u], b_tile[at_b + 3u]);
      sums0 += a_tile[at_a] * row;
      sums1 += a_tile[at_a + 1u] * row;
      sums2 += a_tile[at_a + 2u] * row;
      sums3 += a_tile[at_a + 3u] * row;
    }
    workgroupBarrier();
  }
  let column = column0 + my_column;
  store(row0 + my_row, column, sums0, c_base);
  store(row0 + my_row + 1u, column, sums1, c_base);
  store(row0 + my_row + 2u, column, sums2, c_base);
  store(row0 + my_row + 3u, column, sums3, c_base);
}
