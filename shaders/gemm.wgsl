// C = f(alpha A B + bias + beta C) + residual for row-major C and any strides of A and B, batched.
// With HALVES, B or both A and B are float16, and bias and residual may be. Sums are float32.
//
// A workgroup computes a SIDE × SIDE tile of C from strips of A and B, DEPTH steps of k at a time
// through workgroup memory. It loads the next strips while it multiplies. A thread holds 8 × 8 sums
// in registers (TALL: 16 × 8) and adds outer products of vec4s. With SLICES, several sets of
// threads share the steps of k and add their sums at the end, for more threads per tile. Cost: 2mnk
// operations; A is read n/SIDE times and B m/SIDE times.
//
// A vec4 in workgroup memory holds rows (or columns) that are SIDE/4 apart, so that neighbouring
// threads access neighbouring elements for any strides. Rows and columns past the end are loaded
// unchecked, since their results are not stored. Steps of k past the end are zeros. Tiles have one
// index over a folded grid, eight rows of tiles at a time to share the cache. z is the batch, times
// the parts of length chunk into which k is divided for gemm_sum.wgsl.

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
  c_batch: u32, // from one part to the next
  first: u32, // of z
  chunk: u32,
  // bits: 1 a bias of n elements for every row, 2 the residual, with C's layout; float16 are 16 the
  // bias, 32 the residual
  added: u32,
  alpha: f32,
  beta: f32, // 0: C is not read
}

@group(0) @binding(0) var<storage, read> a: array<u32>; // a float each, or two halves
@group(0) @binding(1) var<storage, read> b: array<u32>;
@group(0) @binding(2) var<storage, read> bias: array<u32>;
@group(0) @binding(3) var<storage, read> residual: array<u32>;
@group(0) @binding(4) var<storage, read_write> c: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/activation.wgsl

override SIDE: u32 = 64u; // 32 (not WIDE), 64 or 128
override DEPTH: u32 = 16u;
override TALL: bool = false;
override WIDE: bool = true;
override SLICES: u32 = 1u;
override HALVES: u32 = 0u; // which operands are float16: 0 none, 1 B, 2 A and B

override QUARTER = SIDE / 4u;
override PITCH = QUARTER + 1u; // odd, so that writes along k use all banks
override ACROSS = select(SIDE / 4u, SIDE / 8u, WIDE); // threads along a row of the tile
override DOWN = select(SIDE / 8u, SIDE / 16u, TALL);
override THREADS = ACROSS * DOWN * SLICES;
override LOADS = QUARTER * DEPTH / THREADS; // vec4s of A, and of B, that a thread loads: 1, 2 or 4

var<workgroup> a_tile: array<vec4f, DEPTH * PITCH>;
var<workgroup> b_tile: array<vec4f, DEPTH * PITCH>;

fn are_halves(bit: u32) -> bool {
  return HALVES > 0u && (params.added & bit) != 0u;
}

// Halves with even distances, the first at `at`, from the words that hold them.
fn halves_of(words: vec4u, at: u32) -> vec4f {
  let bits = words >> vec4u(16u * (at & 1u));
  return vec4f(
    unpack2x16float(bits.x).x, unpack2x16float(bits.y).x,
    unpack2x16float(bits.z).x, unpack2x16float(bits.w).x,
  );
}

// The words that hold four elements; the functions below extract the elements. Loaded words are
// used only when they are stored in the tile, since an earlier use would wait for the memory.
fn a_words(at: u32) -> vec4u {
  let step = QUARTER * params.a_row;
  if (HALVES > 1u) {
    let i = at / 2u;
    let half = step / 2u;
    return vec4u(a[i], a[i + half], a[i + 2u * half], a[i + 3u * half]);
  }
  return vec4u(a[at], a[at + step], a[at + 2u * step], a[at + 3u * step]);
}

fn a_quad(words: vec4u, at: u32) -> vec4f {
  if (HALVES > 1u) {
    return halves_of(words, at);
  }
  return bitcast<vec4f>(words);
}

fn b_words(at: u32) -> vec4u {
  let step = QUARTER * params.b_col;
  if (HALVES > 0u) {
    let i = at / 2u;
    let half = step / 2u;
    return vec4u(b[i], b[i + half], b[i + 2u * half], b[i + 3u * half]);
  }
  return vec4u(b[at], b[at + step], b[at + 2u * step], b[at + 3u * step]);
}

fn b_quad(words: vec4u, at: u32) -> vec4f {
  if (HALVES > 0u) {
    return halves_of(words, at);
  }
  return bitcast<vec4f>(words);
}

fn bias_quad(at: vec4u) -> vec4f {
  if (are_halves(16u)) {
    let i = at / 2u;
    return halves_of(vec4u(bias[i.x], bias[i.y], bias[i.z], bias[i.w]), at.x);
  }
  return bitcast<vec4f>(vec4u(bias[at.x], bias[at.y], bias[at.z], bias[at.w]));
}

fn residual_quad(at: vec4u) -> vec4f {
  if (are_halves(32u)) {
    let i = at / 2u;
    return halves_of(vec4u(residual[i.x], residual[i.y], residual[i.z], residual[i.w]), at.x);
  }
  return bitcast<vec4f>(
    vec4u(residual[at.x], residual[at.y], residual[at.z], residual[at.w]));
}

fn outer(rows: vec4f, columns: vec4f) -> mat4x4f {
  return mat4x4f(rows.x * columns, rows.y * columns, rows.z * columns, rows.w * columns);
}

// Four elements of a row, a quarter of the tile apart.
fn store(row: u32, first_column: u32, sums: vec4f, base: u32) {
  if (row >= params.m) {
    return;
  }
  let column = first_column + QUARTER * vec4u(0u, 1u, 2u, 3u);
  let at = base + row * params.c_row + column;
  var value = params.alpha * sums;
  if ((params.added & 1u) != 0u) {
    value += bias_quad(column);
  }
  if (params.beta != 0.0) {
    value += params.beta * vec4f(c[at.x], c[at.y], c[at.z], c[at.w]);
  }
  value = apply(value);
  if ((params.added & 2u) != 0u) {
    value += residual_quad(at);
  }
  for (var i = 0u; i < 4u; i++) {
    if (column[i] < params.n) {
      c[at[i]] = value[i];
    }
  }
}

fn store_block(row: u32, column: u32, sums: mat4x4f, base: u32) {
  for (var i = 0u; i < 4u; i++) {
    store(row + i * QUARTER, column, sums[i], base);
  }
}

// Passes a slice's sums through workgroup memory: one slice writes them, the first reads them.
fn put(at: u32, upper: mat4x4f, lower: mat4x4f) {
  for (var i = 0u; i < 4u; i++) {
    a_tile[at + i * ACROSS * DOWN] = upper[i];
    b_tile[at + i * ACROSS * DOWN] = lower[i];
  }
}

fn upper(at: u32) -> mat4x4f {
  let step = ACROSS * DOWN;
  return mat4x4f(a_tile[at], a_tile[at + step], a_tile[at + 2u * step], a_tile[at + 3u * step]);
}

fn lower(at: u32) -> mat4x4f {
  let step = ACROSS * DOWN;
  return mat4x4f(b_tile[at], b_tile[at + step], b_tile[at + 2u * step], b_tile[at + 3u * step]);
}

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let tile_columns = (params.n + SIDE - 1u) / SIDE;
  let tile_rows = (params.m + SIDE - 1u) / SIDE;
  let tile = group.y * groups.x + group.x;
  if (tile >= tile_rows * tile_columns) {
    return;
  }
  let first_tile_row = tile / (8u * tile_columns) * 8u;
  let height = min(8u, tile_rows - first_tile_row);
  let in_band = tile % (8u * tile_columns);
  let row0 = (first_tile_row + in_band % height) * SIDE;
  let column0 = in_band / height * SIDE;

  let pieces = max(1u, (params.k + params.chunk - 1u) / params.chunk);
  let layer = params.first + group.z;
  let begin = layer % pieces * params.chunk;
  let end = min(params.k, begin + params.chunk);

  // A thread's loads: threads walk along the contiguous direction of memory.
  let a_along_k = params.a_col == 1u;
  let a_line = select(thread % QUARTER, thread / DEPTH, a_along_k);
  let a_depth = select(thread / QUARTER, thread % DEPTH, a_along_k);
  let a_lines = select(0u, THREADS / DEPTH, a_along_k); // between two of its loads
  let a_depths = select(THREADS / QUARTER, 0u, a_along_k);
  let a_slot = a_depth * PITCH + a_line;
  let a_slots = a_depths * PITCH + a_lines;
  let a_step = a_lines * params.a_row + a_depths * params.a_col;
  var a_at = layer / pieces * params.a_batch + (row0 + a_line) * params.a_row
    + (begin + a_depth) * params.a_col;

  let b_along_k = params.b_row == 1u && params.b_col != 1u;
  let b_line = select(thread % QUARTER, thread / DEPTH, b_along_k);
  let b_depth = select(thread / QUARTER, thread % DEPTH, b_along_k);
  let b_lines = select(0u, THREADS / DEPTH, b_along_k);
  let b_depths = select(THREADS / QUARTER, 0u, b_along_k);
  let b_slot = b_depth * PITCH + b_line;
  let b_slots = b_depths * PITCH + b_lines;
  let b_step = b_lines * params.b_col + b_depths * params.b_row;
  var b_at = layer / pieces * params.b_batch + (column0 + b_line) * params.b_col
    + (begin + b_depth) * params.b_row;

  let place = thread % (ACROSS * DOWN);
  let slice = thread / (ACROSS * DOWN);
  let x = place % ACROSS;
  let y = place / ACROSS;

  var a0: vec4u;
  var a1: vec4u;
  var a2: vec4u;
  var a3: vec4u;
  var b0: vec4u;
  var b1: vec4u;
  var b2: vec4u;
  var b3: vec4u;
  var c00 = mat4x4f(); // rows y, + DOWN, …; columns x, + ACROSS
  var c01 = mat4x4f();
  var c10 = mat4x4f();
  var c11 = mat4x4f();
  var c20 = mat4x4f();
  var c21 = mat4x4f();
  var c30 = mat4x4f();
  var c31 = mat4x4f();
  if (begin < end) {
    a0 = a_words(a_at);
    b0 = b_words(b_at);
    if (LOADS > 1u) {
      a1 = a_words(a_at + a_step);
      b1 = b_words(b_at + b_step);
    }
    if (LOADS > 2u) {
      a2 = a_words(a_at + 2u * a_step);
      b2 = b_words(b_at + 2u * b_step);
      a3 = a_words(a_at + 3u * a_step);
      b3 = b_words(b_at + 3u * b_step);
    }
  }
  for (var k0 = begin; k0 < end; k0 += DEPTH) {
    // Masked here, since masking during the loads would wait for them. A branch would be slower.
    let left = end - k0;
    a0 = select(vec4u(), a0, a_depth < left);
    b0 = select(vec4u(), b0, b_depth < left);
    a1 = select(vec4u(), a1, a_depth + a_depths < left);
    b1 = select(vec4u(), b1, b_depth + b_depths < left);
    a2 = select(vec4u(), a2, a_depth + 2u * a_depths < left);
    b2 = select(vec4u(), b2, b_depth + 2u * b_depths < left);
    a3 = select(vec4u(), a3, a_depth + 3u * a_depths < left);
    b3 = select(vec4u(), b3, b_depth + 3u * b_depths < left);
    a_tile[a_slot] = a_quad(a0, a_at);
    b_tile[b_slot] = b_quad(b0, b_at);
    if (LOADS > 1u) {
      a_tile[a_slot + a_slots] = a_quad(a1, a_at + a_step);
      b_tile[b_slot + b_slots] = b_quad(b1, b_at + b_step);
    }
    if (LOADS > 2u) {
      a_tile[a_slot + 2u * a_slots] = a_quad(a2, a_at + 2u * a_step);
      b_tile[b_slot + 2u * b_slots] = b_quad(b2, b_at + 2u * b_step);
      a_tile[a_slot + 3u * a_slots] = a_quad(a3, a_at + 3u * a_step);
      b_tile[b_slot + 3u * b_slots] = b_quad(b3, b_at + 3u * b_step);
    }
    workgroupBarrier();
    if (k0 + DEPTH < end) {
      a_at += DEPTH * params.a_col;
      b_at += DEPTH * params.b_row;
      a0 = a_words(a_at);
      b0 = b_words(b_at);
      if (LOADS > 1u) {
        a1 = a_words(a_at + a_step);
        b1 = b_words(b_at + b_step);
      }
      if (LOADS > 2u) {
        a2 = a_words(a_at + 2u * a_step);
        b2 = b_words(b_at + 2u * b_step);
        a3 = a_words(a_at + 3u * a_step);
        b3 = b_words(b_at + 3u * b_step);
      }
    }
    for (var i = 0u; i < DEPTH / SLICES; i++) {
      let d = i * SLICES + slice;
      let rows0 = a_tile[d * PITCH + y];
      let rows1 = a_tile[d * PITCH + y + DOWN];
      let columns0 = b_tile[d * PITCH + x];
      c00 += outer(rows0, columns0);
      c10 += outer(rows1, columns0);
      if (WIDE) {
        let columns1 = b_tile[d * PITCH + x + ACROSS];
        c01 += outer(rows0, columns1);
        c11 += outer(rows1, columns1);
      }
      if (TALL) {
        let rows2 = a_tile[d * PITCH + y + 2u * DOWN];
        let rows3 = a_tile[d * PITCH + y + 3u * DOWN];
        let columns1 = b_tile[d * PITCH + x + ACROSS];
        c20 += outer(rows2, columns0);
        c21 += outer(rows2, columns1);
        c30 += outer(rows3, columns0);
        c31 += outer(rows3, columns1);
      }
    }
    workgroupBarrier();
  }
  let base = layer * params.c_batch;
  for (var s = 1u; s < SLICES; s++) {
    let beside = place + 4u * ACROSS * DOWN;
    if (slice == s) {
      put(place, c00, c10);
      if (WIDE) {
        put(beside, c01, c11);
      }
    }
    workgroupBarrier();
    if (slice == 0u) {
      c00 += upper(place);
      c10 += lower(place);
      if (WIDE) {
        c01 += upper(beside);
        c11 += lower(beside);
      }
    }
    workgroupBarrier();
  }
  if (slice > 0u) {
    return;
  }
  store_block(row0 + y, column0 + x, c00, base);
  store_block(row0 + y + DOWN, column0 + x, c10, base);
  if (WIDE) {
    store_block(row0 + y, column0 + x + ACROSS, c01, base);
    store_block(row0 + y + DOWN, column0 + x + ACROSS, c11, base);
  }
  if (TALL) {
    store_block(row0 + y + 2u * DOWN, column0 + x, c20, base);
    store_block(row0 + y + 2u * DOWN, column0 + x + ACROSS, c21, base);
    store_block(row0 + y + 3u * DOWN, column0 + x, c30, base);
    store_block(row0 + y + 3u * DOWN, column0 + x + ACROSS, c31, base);
  }
}
