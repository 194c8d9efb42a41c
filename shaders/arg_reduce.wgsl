// Index of the largest or smallest element: y[o, c, i] is the j in chunk c that selects x[o, j, i].
// x is [outer, length, inner]. The first of equal elements wins, and NaN wins over all others.
//
// Elements are compared by their order as unsigned integers, then by j. Threads exchange pairs of
// order and j. main_rows (inner = 1) gives a chunk to `lanes` threads. main_columns gives a
// workgroup `lanes` neighbouring columns of one chunk. main_merge does the same with the pairs that
// an earlier pass found for its chunks.

struct Params {
  outer: u32,
  length: u32,
  inner: u32,
  chunk: u32, // elements of a chunk along the axis; the last may be shorter
  chunks: u32,
  lanes: u32, // a power of two, at most THREADS
  flip: u32,  // 0, or all bits for the smallest
  pairs: u32, // 1: y is not j but pairs, for a further pass
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read> found: array<vec2u>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/order.wgsl

const THREADS = 256u;
const NOTHING = vec2u(0u, 0xffffffffu);

var<workgroup> partial: array<vec2u, THREADS>;

// Returns the winning pair of order and j.
fn better(p: vec2u, q: vec2u) -> vec2u {
  return select(p, q, q.x > p.x || (q.x == p.x && q.y < p.y));
}

fn pair_of(bits: u32, j: u32) -> vec2u {
  let order = order_of(bits);
  return vec2u(select(order ^ params.flip, LAST, KIND == 0u && order == LAST), j);
}

fn store(i: u32, best: vec2u) {
  if (params.pairs != 0u) {
    y[2u * i] = best.x;
    y[2u * i + 1u] = best.y;
  } else {
    y[i] = best.y;
  }
}

@compute @workgroup_size(THREADS)
fn main_rows(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let lanes = params.lanes;
  let lane = thread & (lanes - 1u);
  // row × chunks + chunk
  let which = (group.y * groups.x + group.x) * (THREADS / lanes) + thread / lanes;
  let live = which < params.outer * params.chunks;
  var best = NOTHING;
  if (live) {
    let row = which / params.chunks * params.length;
    var j = which % params.chunks * params.chunk;
    let end = min(j + params.chunk, params.length);
    j += lane;
    for (; j + 3u * lanes < end; j += 4u * lanes) {
      let a = x[row + j];
      let b = x[row + j + lanes];
      let c = x[row + j + 2u * lanes];
      let d = x[row + j + 3u * lanes];
      best = better(best, better(
        better(pair_of(a, j), pair_of(b, j + lanes)),
        better(pair_of(c, j + 2u * lanes), pair_of(d, j + 3u * lanes))));
    }
    for (; j < end; j += lanes) {
      best = better(best, pair_of(x[row + j], j));
    }
  }
  partial[thread] = best;
  for (var half = lanes / 2u; half > 0u; half >>= 1u) {
    workgroupBarrier();
    if (lane < half) {
      partial[thread] = better(partial[thread], partial[thread + half]);
    }
  }
  if (live && lane == 0u) {
    store(which, partial[thread]);
  }
}

// The rows that one thread reads in a chunk of columns: every (THREADS / lanes)-th row.
struct Column {
  output: u32, // outer × chunks + chunk
  column: u32,
  j: u32,      // the first
  end: u32,
  at: u32,     // where the first is
  lines: u32,  // to the next
}

fn column_of(which: u32, thread: u32) -> Column {
  let lanes = params.lanes;
  let blocks = (params.inner + lanes - 1u) / lanes;
  let output = which / blocks;
  let column = which % blocks * lanes + (thread & (lanes - 1u));
  let start = output % params.chunks * params.chunk;
  let j = start + thread / lanes;
  var end = min(start + params.chunk, params.length);
  if (which >= params.outer * params.chunks * blocks || column >= params.inner) {
    end = 0u; // this thread has no column
  }
  let at = (output / params.chunks * params.length + j) * params.inner + column;
  return Column(output, column, j, end, at, THREADS / lanes);
}

fn finish_columns(own: Column, best: vec2u, thread: u32) {
  partial[thread] = best;
  for (var half = THREADS / 2u; half >= params.lanes; half >>= 1u) {
    workgroupBarrier();
    if (thread < half) {
      partial[thread] = better(partial[thread], partial[thread + half]);
    }
  }
  if (thread < params.lanes && own.end > 0u) {
    store(own.output * params.inner + own.column, partial[thread]);
  }
}

@compute @workgroup_size(THREADS)
fn main_columns(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let own = column_of(group.y * groups.x + group.x, thread);
  let step = own.lines * params.inner;
  var best = NOTHING;
  var j = own.j;
  var at = own.at;
  for (; j + 3u * own.lines < own.end; j += 4u * own.lines) {
    let a = x[at];
    let b = x[at + step];
    let c = x[at + 2u * step];
    let d = x[at + 3u * step];
    best = better(best, better(
      better(pair_of(a, j), pair_of(b, j + own.lines)),
      better(pair_of(c, j + 2u * own.lines), pair_of(d, j + 3u * own.lines))));
    at += 4u * step;
  }
  for (; j < own.end; j += own.lines) {
    best = better(best, pair_of(x[at], j));
    at += step;
  }
  finish_columns(own, best, thread);
}

@compute @workgroup_size(THREADS)
fn main_merge(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let own = column_of(group.y * groups.x + group.x, thread);
  var best = NOTHING;
  var at = own.at;
  for (var j = own.j; j < own.end; j += own.lines) {
    best = better(best, found[at]);
    at += own.lines * params.inner;
  }
  finish_columns(own, best, thread);
}
