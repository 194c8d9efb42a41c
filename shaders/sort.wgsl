// One pass of a stable radix sort of the rows of x [rows, length], by eight bits of their keys, the
// lowest first (history: https://doi.org/10.1145/321033.321035).
//
// A workgroup processes a tile of a row. main_count counts the tile's elements of each digit. The
// caller scans these counts in the order [rows, DIGITS, tiles], which gives the position of each
// first element. main and main_pairs sort the tile by its digits in workgroup memory, two bits at a
// time, so that most neighbours are written to neighbouring positions. main_pairs also moves each
// element's index. Elements are moved unchanged, whatever their type. Keys are computed again in
// each pass.

struct Params {
  rows: u32,
  length: u32,
  tiles: u32,  // per row
  shift: u32,  // the first bit of the digit in the key
  flip: u32,   // 0, or all bits to sort descending
  places: u32, // 1: the words are the elements' positions in their row, and are not read
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read> indices: array<u32>;
@group(0) @binding(2) var<storage, read> starts: array<u32>; // the scanned counts
@group(0) @binding(3) var<storage, read_write> y: array<u32>;
@group(0) @binding(4) var<storage, read_write> sorted_indices: array<u32>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/order.wgsl
//#include lib/scan.wgsl

// Four counts of 16 bits: of the digits 0 and 1, then of 2 and 3.
alias Part = vec2u;

const DIGITS = 256u;

var<workgroup> counts: array<atomic<u32>, DIGITS>;
var<workgroup> moves: array<u32, DIGITS>; // added to a position in the tile, by digit

fn combine(p: vec2u, q: vec2u) -> vec2u {
  return p + q;
}

fn digit_of(bits: u32) -> u32 {
  return ((order_of(bits) ^ params.flip) >> params.shift) % DIGITS;
}

@compute @workgroup_size(THREADS)
fn main_count(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let which = group.y * groups.x + group.x; // row × tiles + tile
  if (which >= params.rows * params.tiles) {
    return;
  }
  let row = which / params.tiles;
  let start = which % params.tiles * TILE;
  atomicStore(&counts[thread], 0u); // Mesa 22's lavapipe does not initialize atomics
  workgroupBarrier();
  for (var k = 0u; k < ITEMS; k++) {
    let along = start + thread + k * THREADS;
    if (along < params.length) {
      atomicAdd(&counts[digit_of(x[row * params.length + along])], 1u);
    }
  }
  workgroupBarrier();
  y[(row * DIGITS + thread) * params.tiles + which % params.tiles] = atomicLoad(&counts[thread]);
}

fn one_of(two_bits: u32) -> vec2u {
  let one = 1u << (16u * (two_bits & 1u));
  return select(vec2u(0u, one), vec2u(one, 0u), two_bits < 2u);
}

fn count_of(counted: vec2u, two_bits: u32) -> u32 {
  return (select(counted.y, counted.x, two_bits < 2u) >> (16u * (two_bits & 1u))) & 0xffffu;
}

// Sorts the tile's words stably by two of their bits.
fn sort_by_two_bits(bit: u32, thread: u32) {
  var words: array<u32, ITEMS>;
  var own = vec2u();
  for (var k = 0u; k < ITEMS; k++) {
    words[k] = tile[within(ITEMS * thread + k)];
    own += one_of((words[k] >> bit) & 3u);
  }
  let begin = scan_threads(own, thread, THREADS);
  let total = parts[begin + THREADS - 1u];
  let two = (total.x & 0xffffu) + (total.x >> 16u); // position of the first 2
  let first = vec2u(total.x << 16u, two | ((two + (total.y & 0xffffu)) << 16u));
  var next = first + parts[begin + thread] - own;
  for (var k = 0u; k < ITEMS; k++) {
    let two_bits = (words[k] >> bit) & 3u;
    tile[within(count_of(next, two_bits))] = words[k];
    next += one_of(two_bits);
  }
  workgroupBarrier();
}

// Sorts the tile's positions by their digits, as words of (position in x) × DIGITS + digit. Word p
// then belongs p + moves[digit] positions after the row's beginning.
fn arrange(which: u32, thread: u32) {
  let row = which / params.tiles;
  let start = which % params.tiles * TILE;
  for (var k = 0u; k < ITEMS; k++) {
    let slot = thread + k * THREADS;
    var digit = DIGITS - 1u; // past the row's end: the last of all
    if (start + slot < params.length) {
      digit = digit_of(x[row * params.length + start + slot]);
    }
    tile[within(slot)] = slot * DIGITS + digit;
  }
  workgroupBarrier();
  for (var bit = 0u; bit < 8u; bit += 2u) {
    sort_by_two_bits(bit, thread);
  }
  for (var p = thread; p < TILE; p += THREADS) {
    let digit = tile[within(p)] % DIGITS;
    if (p == 0u || tile[within(p - 1u)] % DIGITS != digit) {
      moves[digit] = p;
    }
  }
  workgroupBarrier();
  let from_row = starts[(row * DIGITS + thread) * params.tiles + which % params.tiles];
  moves[thread] = from_row - moves[thread];
  workgroupBarrier();
}

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let which = group.y * groups.x + group.x;
  if (which >= params.rows * params.tiles) {
    return;
  }
  arrange(which, thread);
  let row = which / params.tiles * params.length;
  let start = which % params.tiles * TILE;
  for (var p = thread; p < min(TILE, params.length - start); p += THREADS) {
    let word = tile[within(p)];
    y[row + p + moves[word % DIGITS]] = x[row + start + word / DIGITS];
  }
}

@compute @workgroup_size(THREADS)
fn main_pairs(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let which = group.y * groups.x + group.x;
  if (which >= params.rows * params.tiles) {
    return;
  }
  arrange(which, thread);
  let row = which / params.tiles * params.length;
  let start = which % params.tiles * TILE;
  for (var p = thread; p < min(TILE, params.length - start); p += THREADS) {
    let word = tile[within(p)];
    let to = row + p + moves[word % DIGITS];
    let along = start + word / DIGITS;
    var index = along;
    if (params.places == 0u) {
      index = indices[row + along];
    }
    y[to] = x[row + along];
    sorted_indices[to] = index;
  }
}
