// Jacobi rotations for matrices with many rows, a pair of blocks at a time. The rows of w [n,
// columns] are rotated until their first `length` numbers are orthogonal vectors. If `hermitian`,
// rows and columns of the matrix in the first n columns are rotated until it is diagonal. The
// columns after it are rotated with the rows.
//
// A round takes disjoint pairs of blocks. The vectors' inner products, or the matrix's rows and
// columns of the pair, are a small Hermitian matrix. `main_products` computes the inner products.
// `main_turn` rotates each pair of rows of the small matrix once and writes the product of these
// rotations, by which `main_rows` and `main_columns` multiply. After a sweep without a rotation,
// nothing more is done.

struct Params {
  matrices: u32,
  n: u32,
  length: u32,
  columns: u32,
  sweep: u32,
  round: u32,
  hermitian: u32, // 0 or 1
}

@group(0) @binding(0) var<storage, read_write> w: array<Number>;
// For each matrix and sweep, whether anything was rotated; initially zeros.
@group(0) @binding(1) var<storage, read_write> turned: array<atomic<u32>>;
// For each pair, whether it is rotated in this round.
@group(0) @binding(2) var<storage, read_write> busy: array<atomic<u32>>;
// For each pair [SIDE, SIDE]: the products, and then the rotations.
@group(0) @binding(3) var<storage, read_write> small: array<Number>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/numbers.wgsl
//#include lib/rotations.wgsl

const THREADS = 256u;
const BLOCK = 16u;
const SIDE = 32u; // rows of a pair of blocks
const SQUARE = 1024u;
const LANES = 16u; // threads per pair of rows
const NEAR = 1.2e-7; // cosines that count as 0, for vectors of one element
const NOTHING = 3e-8; // projections that count as 0, relative to the largest element, about 1
const NEAR_DIAGONAL = 6e-8; // negligible relative to the diagonal, and to 1

var<workgroup> block: array<Number, SQUARE>;
var<workgroup> turns: array<Number, SQUARE>;

// Position of a square's element, so that neighbours in a row or a column are in different banks.
fn place(row: u32, column: u32) -> u32 {
  return row * SIDE + (row + column) % SIDE;
}

fn blocks() -> u32 {
  return (params.n + BLOCK - 1u) / BLOCK;
}

fn pairs() -> u32 {
  return pairs_of(blocks());
}

// The blocks of a pair, by its index among all matrices.
fn pair_at(which: u32) -> vec2u {
  return pair_of(blocks(), params.round, which % pairs());
}

// The i-th row of a pair; n or more if it is missing.
fn row_of(pair: vec2u, i: u32) -> u32 {
  return select(pair.x, pair.y, i >= BLOCK) * BLOCK + i % BLOCK;
}

fn matrix_at(which: u32) -> u32 {
  return which / pairs() * params.n * params.columns;
}

fn is_done(which: u32) -> bool {
  if (params.sweep == 0u) {
    return false;
  }
  let matrix = which / pairs();
  return atomicLoad(&turned[(params.sweep - 1u) * params.matrices + matrix]) == 0u;
}

// Broadcasts a value of thread 0 to all threads, in existing memory, since 16 KiB are in use.
fn told_by_first(thread: u32, value: bool) -> bool {
  if (thread == 0u) {
    block[0] = number(select(0.0, 1.0, value));
  }
  return real_part(workgroupUniformLoad(&block[0])) != 0.0;
}

@compute @workgroup_size(THREADS)
fn main_products(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let which = group.y * groups.x + group.x;
  if (which >= params.matrices * pairs() || told_by_first(thread, is_done(which))) {
    return;
  }
  let pair = pair_at(which);
  let begin = matrix_at(which);
  let i = thread / LANES;
  let j = thread % LANES;
  var sums: array<Number, 4>;
  for (var start = 0u; start < params.length; start += SIDE) {
    for (var at = thread; at < SQUARE; at += THREADS) {
      let k = start + at % SIDE;
      let row = row_of(pair, at / SIDE);
      var value = number(0.0);
      if (row < params.n && k < params.length) {
        value = w[begin + row * params.columns + k];
      }
      block[place(at % SIDE, at / SIDE)] = value;
    }
    workgroupBarrier();
    for (var k = 0u; k < SIDE; k++) {
      let one = block[place(k, i)];
      let other = block[place(k, i + BLOCK)];
      let first = conjugate(block[place(k, j)]);
      let second = conjugate(block[place(k, j + BLOCK)]);
      sums[0] += times(one, first);
      sums[1] += times(one, second);
      sums[2] += times(other, first);
      sums[3] += times(other, second);
    }
    workgroupBarrier();
  }
  for (var part = 0u; part < 4u; part++) {
    small[which * SQUARE + (i + part / 2u * BLOCK) * SIDE + j + part % 2u * BLOCK] = sums[part];
  }
}

// The threshold for orthogonality of two rows. For short vectors beside a long one, it is the
// rounding error that rotating the long one leaves.
fn near(a: f32, b: f32, longest: f32) -> f32 {
  if (params.hermitian != 0u) {
    return NEAR_DIAGONAL * (abs(a) + abs(b) + 1.0);
  }
  let longer = sqrt(max(max(a, b), 0.0));
  let shorter = sqrt(max(min(a, b), 0.0));
  return longer * max(NEAR * sqrt(f32(params.length)) * shorter, max(NEAR * longest, NOTHING));
}

@compute @workgroup_size(THREADS)
fn main_turn(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let which = group.y * groups.x + group.x;
  if (which >= params.matrices * pairs()) {
    return;
  }
  if (thread == 0u) {
    atomicStore(&busy[which], 0u);
  }
  if (told_by_first(thread, is_done(which))) {
    return;
  }
  let pair = pair_at(which);
  let begin = matrix_at(which);
  for (var at = thread; at < SQUARE; at += THREADS) {
    let i = at / SIDE;
    let j = at % SIDE;
    var value = number(0.0);
    if (params.hermitian == 0u) {
      value = small[which * SQUARE + at];
    } else if (row_of(pair, i) < params.n && row_of(pair, j) < params.n) {
      value = w[begin + row_of(pair, i) * params.columns + row_of(pair, j)];
    }
    block[place(i, j)] = value;
    turns[place(i, j)] = number(select(0.0, 1.0, i == j));
  }
  storageBarrier();
  workgroupBarrier();
  var longest = 0.0;
  for (var i = 0u; i < SIDE; i++) {
    longest = max(longest, real_part(block[place(i, i)]));
  }
  longest = sqrt(longest);
  let lane = thread % LANES;
  var is_busy = false;
  for (var round = 0u; round < SIDE - 1u; round++) {
    let rows = pair_of(SIDE, round, thread / LANES);
    let p = rows.x;
    let q = rows.y;
    let a = real_part(block[place(p, p)]);
    let b = real_part(block[place(q, q)]);
    let product = block[place(p, q)];
    let is_turned = !(sqrt(square(product)) <= near(a, b, longest));
    var rotation = Rotation(number(0.0), number(0.0));
    if (is_turned) {
      rotation = rotation_of(a, b, product);
      is_busy = true;
    }
    workgroupBarrier(); // all threads have read the elements before they change
    if (is_turned) {
      // The adjoint matrix, which is on the left.
      let left = Rotation(conjugate(rotation.s), conjugate(rotation.t));
      for (var i = lane; i < SIDE; i += LANES) {
        let one = block[place(p, i)];
        let other = block[place(q, i)];
        block[place(p, i)] = first_of(left, one, other);
        block[place(q, i)] = second_of(left, one, other);
        let above = turns[place(p, i)];
        let below = turns[place(q, i)];
        turns[place(p, i)] = first_of(left, above, below);
        turns[place(q, i)] = second_of(left, above, below);
      }
    }
    workgroupBarrier();
    if (is_turned) {
      for (var i = lane; i < SIDE; i += LANES) {
        let one = block[place(i, p)];
        let other = block[place(i, q)];
        block[place(i, p)] = first_of(rotation, one, other);
        block[place(i, q)] = second_of(rotation, one, other);
      }
    }
    workgroupBarrier();
  }
  // Rounding errors of many rotations would change lengths and angles more in every round. A step
  // of Newton's iteration for the nearest unitary matrix corrects this (Björck and Bowie 1971).
  for (var at = thread; at < SQUARE; at += THREADS) {
    let i = at / SIDE;
    let j = at % SIDE;
    var off = number(select(0.0, -1.0, i == j));
    for (var k = 0u; k < SIDE; k++) {
      off += times(turns[place(i, k)], conjugate(turns[place(j, k)]));
    }
    block[place(i, j)] = off;
  }
  workgroupBarrier();
  for (var at = thread; at < SQUARE; at += THREADS) {
    let i = at / SIDE;
    let j = at % SIDE;
    var off = number(0.0);
    for (var k = 0u; k < SIDE; k++) {
      off += times(block[place(i, k)], turns[place(k, j)]);
    }
    small[which * SQUARE + at] = turns[place(i, j)] - times(number(0.5), off);
  }
  if (is_busy && lane == 0u) {
    atomicStore(&busy[which], 1u);
    atomicStore(&turned[params.sweep * params.matrices + which / pairs()], 1u);
  }
}

// Rotates the rows of the pairs, SIDE columns per workgroup.
@compute @workgroup_size(THREADS)
fn main_rows(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let tiles = (params.columns + SIDE - 1u) / SIDE;
  let tile = group.y * groups.x + group.x;
  let which = tile / tiles;
  if (which >= params.matrices * pairs()) {
    return;
  }
  if (!told_by_first(thread, atomicLoad(&busy[which]) != 0u)) {
    return;
  }
  let pair = pair_at(which);
  let begin = matrix_at(which);
  let column = tile % tiles * SIDE + thread % SIDE;
  let first = thread / SIDE;
  for (var i = first; i < SIDE; i += THREADS / SIDE) {
    let row = row_of(pair, i);
    var value = number(0.0);
    if (row < params.n && column < params.columns) {
      value = w[begin + row * params.columns + column];
    }
    block[i * SIDE + thread % SIDE] = value;
    turns[i * SIDE + thread % SIDE] = small[which * SQUARE + i * SIDE + thread % SIDE];
  }
  workgroupBarrier();
  for (var i = first; i < SIDE; i += THREADS / SIDE) {
    var sum = number(0.0);
    for (var k = 0u; k < SIDE; k++) {
      sum += times(turns[i * SIDE + k], block[k * SIDE + thread % SIDE]);
    }
    let row = row_of(pair, i);
    if (row < params.n && column < params.columns) {
      w[begin + row * params.columns + column] = sum;
    }
  }
}

// Rotates the columns of the pairs, SIDE rows per workgroup.
@compute @workgroup_size(THREADS)
fn main_columns(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let tiles = (params.n + SIDE - 1u) / SIDE;
  let tile = group.y * groups.x + group.x;
  let which = tile / tiles;
  if (which >= params.matrices * pairs()) {
    return;
  }
  if (!told_by_first(thread, atomicLoad(&busy[which]) != 0u)) {
    return;
  }
  let pair = pair_at(which);
  let begin = matrix_at(which);
  let j = thread % SIDE;
  let column = row_of(pair, j);
  let top = tile % tiles * SIDE;
  let first = thread / SIDE;
  for (var i = first; i < SIDE; i += THREADS / SIDE) {
    var value = number(0.0);
    if (top + i < params.n && column < params.n) {
      value = w[begin + (top + i) * params.columns + column];
    }
    block[i * SIDE + j] = value;
    turns[place(j, i)] = conjugate(small[which * SQUARE + i * SIDE + j]);
  }
  workgroupBarrier();
  for (var i = first; i < SIDE; i += THREADS / SIDE) {
    var sum = number(0.0);
    for (var k = 0u; k < SIDE; k++) {
      sum += times(block[i * SIDE + k], turns[place(k, j)]);
    }
    if (top + i < params.n && column < params.n) {
      w[begin + (top + i) * params.columns + column] = sum;
    }
  }
}
