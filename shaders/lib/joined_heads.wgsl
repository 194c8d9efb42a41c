// Queries, keys and values of tokens in one array x [tokens, joined, width]: `heads` queries and
// `kv_heads` keys, which are normalized and rotated, and then as many values, if `joined` has room
// for them. A workgroup processes HEADS heads, each by THREADS threads. The shader declares keys and
// values, which are caches of shape [slots, kv_heads, capacity, ...], and y [tokens, heads, width].
// Entries beyond the capacity are not written.

struct Params {
  tokens: u32,
  joined: u32,
  heads: u32,
  kv_heads: u32,
  width: u32,
  rotated: u32,
  adjacent: u32, // 1 if pairs are neighbors, 0 if they are rotated / 2 apart
  capacity: u32,
  entries: u32,  // positions of the table
  each: u32,     // tokens of a sequence
  normed: u32,   // 1 if queries and keys are normalized
  eps: f32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> norms: array<f32>; // of queries and keys, [2, width]
@group(0) @binding(2) var<storage, read> angles: array<vec2f>; // [entries, rotated / 2]
@group(0) @binding(3) var<storage, read> position: array<i32>;
@group(0) @binding(4) var<storage, read> slots: array<i32>;
@group(0) @binding(7) var<storage, read_write> y: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

const HEADS = 4u;
const THREADS = 64u; // of a head
const WIDEST = 512u;

var<workgroup> rows: array<f32, HEADS * WIDEST>;
var<workgroup> shares: array<f32, HEADS * THREADS>;
var<private> own_row: u32; // where the thread's head begins in rows

fn element(i: u32) -> f32 {
  return rows[own_row + i];
}

// Reads a head into workgroup memory. `thread` is one of its threads.
fn read_head(start: u32, thread: u32) -> f32 {
  var squares = 0.0;
  for (var i = thread; i < params.width; i += THREADS) {
    let value = x[start + i];
    rows[own_row + i] = value;
    squares += value * value;
  }
  return squares;
}

// The sum of the numbers of the head's threads. `of_all` is the thread among all of the workgroup.
fn sum_of_head(number: f32, of_all: u32, thread: u32) -> f32 {
  shares[of_all] = number;
  workgroupBarrier();
  for (var half = THREADS / 2u; half >= 1u; half /= 2u) {
    if (thread < half) {
      shares[of_all] += shares[of_all + half];
    }
    workgroupBarrier();
  }
  return shares[of_all - thread];
}

fn split(group: u32, of_all: u32) {
  let count = params.tokens * params.joined;
  let thread = of_all % THREADS;
  let own = group * HEADS + of_all / THREADS;
  let head_of_x = min(own, count - 1u); // all threads wait for each other
  own_row = of_all / THREADS * WIDEST;
  let head = head_of_x % params.joined;
  let token = head_of_x / params.joined;
  let place = place_of(token);
  let end = params.heads + params.kv_heads;
  let squares = read_head(head_of_x * params.width, thread);
  if (params.normed != 0u) {
    let root = sqrt(sum_of_head(squares, of_all, thread) / f32(params.width) + params.eps);
    if (head < end) {
      let norm = u32(head >= params.heads) * params.width;
      for (var i = thread; i < params.width; i += THREADS) {
        rows[own_row + i] = rows[own_row + i] / root * norms[norm + i];
      }
    }
  }
  workgroupBarrier();
  if (own >= count) {
    return;
  }
  if (head < params.heads) {
    let start = (token * params.heads + head) * params.width;
    for (var at = thread; at < params.width; at += THREADS) {
      y[start + at] = turned(at, at, place);
    }
  } else if (place < params.capacity) {
    if (head < end) {
      let row = row_of(token, head - params.heads, params.kv_heads, place);
      store_key(row, place, thread);
    } else {
      store_value(row_of(token, head - end, params.kv_heads, place), thread);
    }
  }
}
