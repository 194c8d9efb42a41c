// y[o, j, i] = the combination of x[o, k, i] over k <= j, or over k < j if `exclusive`, for x of
// [outer, length, inner] and y of [outer, results, inner].
//
// A line longer than a chunk takes three steps, since no workgroup can rely on another one's
// progress. main_row_totals combines each chunk, the caller scans these totals exclusively, and
// main_rows scans each chunk with its total before it. Columns work likewise. Rows (inner = 1) give
// a chunk of OWN × lanes elements to `lanes` neighbouring threads of a workgroup. main_columns
// gives one chunk of one column to a thread. No running sum is longer than a chunk of a column, or
// than 32 steps in a row, so sums are pairwise enough for float32.
//
// Elements are words of any type (NARROW), or two words, the low one first (WIDE). Exactly one of
// the two is 1. NaN propagates as in NumPy, detected by its bits.

struct Params {
  outer: u32,
  length: u32,
  inner: u32,
  results: u32,   // length, or length + 1 if exclusive
  chunk: u32,     // results per chunk along the axis; the last may have fewer
  chunks: u32,
  lanes: u32,     // a power of two, at most THREADS, and THREADS if there are several chunks
  exclusive: u32, // 0 or 1
  identity: u32,  // bits of the initial value; of two words, the low ones
}

@group(0) @binding(0) var<storage, read> x: array<Element>;
// [outer, chunks, inner]: the combination before each chunk; not read for a single chunk
@group(0) @binding(1) var<storage, read> before: array<Element>;
@group(0) @binding(2) var<storage, read_write> y: array<Element>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/floats.wgsl
//#include lib/scan.wgsl
//#include lib/wide/products.wgsl

// Of f32: 0 sum, 1 prod, 2 max, 3 min. Of whole numbers, with or without a sign: 4 whole_sum,
// 5 whole_prod. Others: 6 i32_max, 7 i32_min, 8 u32_max, 9 u32_min. Of two words: 10 wide_sum,
// 11 wide_prod.
override OP: u32 = 0u;
override NARROW: u32 = 1u;
override WIDE: u32 = 0u;

//#if NARROW
alias Element = u32;
const OWN = ITEMS; // elements per thread

fn identity() -> Element {
  return params.identity;
}

fn kept(slot: u32) -> Element {
  return tile[within(slot)];
}

fn keep(slot: u32, value: Element) {
  tile[within(slot)] = value;
}

fn combine(p: Element, q: Element) -> Element {
  switch (OP) {
    case 0u: { return bitcast<u32>(bitcast<f32>(p) + bitcast<f32>(q)); }
    case 1u: { return bitcast<u32>(bitcast<f32>(p) * bitcast<f32>(q)); }
    case 2u: { return extreme(p, q, bitcast<f32>(p) >= bitcast<f32>(q)); }
    case 3u: { return extreme(p, q, bitcast<f32>(p) <= bitcast<f32>(q)); }
    case 4u: { return p + q; }
    case 5u: { return p * q; }
    case 6u: { return bitcast<u32>(max(bitcast<i32>(p), bitcast<i32>(q))); }
    case 7u: { return bitcast<u32>(min(bitcast<i32>(p), bitcast<i32>(q))); }
    case 8u: { return max(p, q); }
    case 9u, default: { return min(p, q); }
  }
}

// Bits of the first float if it wins or is NaN, else of the second.
fn extreme(p: u32, q: u32, first_wins: bool) -> u32 {
  let first_is_nan = is_nan(bitcast<f32>(p));
  let second_is_nan = is_nan(bitcast<f32>(q));
  return select(q, p, first_is_nan || (first_wins && !second_is_nan));
}
//#endif
//#if WIDE
alias Element = vec2u;
const OWN = ITEMS / 2u; // elements per thread

fn identity() -> Element {
  return vec2u(params.identity, 0u);
}

// The high words are in the second half of the tile.
fn kept(slot: u32) -> Element {
  return vec2u(tile[within(slot)], tile[within(slot + TILE / 2u)]);
}

fn keep(slot: u32, value: Element) {
  tile[within(slot)] = value.x;
  tile[within(slot + TILE / 2u)] = value.y;
}

fn sum_of(p: Element, q: Element) -> Element {
  let low = p.x + q.x;
  return vec2u(low, p.y + q.y + select(0u, 1u, low < p.x));
}

fn product_of(p: Element, q: Element) -> Element {
  let found = wide_multiply(Long(vec4u(p.x), vec4u(p.y)), Long(vec4u(q.x), vec4u(q.y)));
  return vec2u(found.low.x, found.high.x);
}

fn combine(p: Element, q: Element) -> Element {
  switch (OP) {
    case 10u: { return sum_of(p, q); }
    case 11u, default: { return product_of(p, q); }
  }
}
//#endif

alias Part = Element;

@compute @workgroup_size(THREADS)
fn main_row_totals(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let which = group.y * groups.x + group.x; // row × chunks + chunk
  if (which >= params.outer * params.chunks) {
    return;
  }
  let row = which / params.chunks * params.length;
  let start = which % params.chunks * THREADS * OWN;
  var sum = identity();
  for (var k = 0u; k < OWN; k++) {
    let along = start + thread + k * THREADS;
    if (along < params.length) {
      sum = combine(sum, x[row + along]);
    }
  }
  let begin = scan_threads(sum, thread, THREADS);
  if (thread == THREADS - 1u) {
    y[which] = parts[begin + thread];
  }
}

@compute @workgroup_size(THREADS)
fn main_rows(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let lanes = params.lanes;
  let span = lanes * OWN;
  let shift = countTrailingZeros(span);
  let which = (group.y * groups.x + group.x) * (THREADS / lanes); // of the first row and chunk
  if (which >= params.outer * params.chunks) {
    return;
  }
  let row = which / params.chunks; // the first of several only if each is one chunk
  let start = which % params.chunks * span;
  for (var k = 0u; k < OWN; k++) {
    let slot = thread + k * THREADS;
    let this_row = row + (slot >> shift);
    let along = start + (slot & (span - 1u));
    var value = identity();
    if (this_row < params.outer && along < params.length) {
      value = x[this_row * params.length + along];
    }
    keep(slot, value);
  }
  workgroupBarrier();
  var sum = identity();
  for (var k = 0u; k < OWN; k++) {
    sum = combine(sum, kept(OWN * thread + k));
  }
  let begin = scan_threads(sum, thread, lanes);
  var running = identity();
  if ((thread & (lanes - 1u)) > 0u) {
    running = parts[begin + thread - 1u];
  }
  if (params.chunks > 1u) {
    running = combine(before[which], running);
  }
  for (var k = 0u; k < OWN; k++) {
    let slot = OWN * thread + k;
    let next = combine(running, kept(slot));
    keep(slot, select(next, running, params.exclusive != 0u));
    running = next;
  }
  workgroupBarrier();
  for (var k = 0u; k < OWN; k++) {
    let slot = thread + k * THREADS;
    let this_row = row + (slot >> shift);
    let along = start + (slot & (span - 1u));
    if (this_row < params.outer && along < params.results) {
      y[this_row * params.results + along] = kept(slot);
    }
  }
}

struct Column {
  output: u32, // (outer × chunks + chunk) × inner + column
  start: u32,
  end: u32,    // of the results
  input: u32,  // position of x[o, start, i]
  result: u32, // position of y[o, start, i]
}

fn column_of(group: vec3u, groups: vec3u, thread: u32) -> Column {
  let output = (group.y * groups.x + group.x) * THREADS + thread;
  let column = output % params.inner;
  let o = output / params.inner / params.chunks;
  let start = output / params.inner % params.chunks * params.chunk;
  return Column(
    output, start, min(start + params.chunk, params.results),
    (o * params.length + start) * params.inner + column,
    (o * params.results + start) * params.inner + column);
}

@compute @workgroup_size(THREADS)
fn main_column_totals(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let own = column_of(group, groups, thread);
  if (own.output >= params.outer * params.chunks * params.inner) {
    return;
  }
  var sum = identity();
  var at = own.input;
  for (var j = own.start; j < min(own.end, params.length); j++) {
    sum = combine(sum, x[at]);
    at += params.inner;
  }
  y[own.output] = sum;
}

@compute @workgroup_size(THREADS)
fn main_columns(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let own = column_of(group, groups, thread);
  if (own.output >= params.outer * params.chunks * params.inner) {
    return;
  }
  var running = identity();
  if (params.chunks > 1u) {
    running = before[own.output];
  }
  var at = own.input;
  var to = own.result;
  for (var j = own.start; j < own.end; j++) {
    var next = running;
    if (j < params.length) {
      next = combine(running, x[at]);
    }
    y[to] = select(next, running, params.exclusive != 0u);
    running = next;
    at += params.inner;
    to += params.inner;
  }
}
