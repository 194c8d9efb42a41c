// Queries, keys and values of tokens in one array x [tokens, joined, width], by a workgroup for each
// head: `heads` queries and `kv_heads` keys, which are normalized and rotated, and then as many
// values, if `joined` has room for them. The shader declares keys and values, which are caches of
// shape [slots, kv_heads, capacity, ...], and y [tokens, heads, width]. Entries beyond the capacity
// are not written.

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

const THREADS = 64u;
const WIDEST = 512u;

var<workgroup> row: array<f32, WIDEST>;

//#include lib/sum_of_threads.wgsl

fn element(i: u32) -> f32 {
  return row[i];
}

// Reads a head into workgroup memory. Queries (norm 0) and keys (norm 1) are normalized.
fn read_head(start: u32, norm: u32, thread: u32) {
  var sum = 0.0;
  for (var i = thread; i < params.width; i += THREADS) {
    let value = x[start + i];
    row[i] = value;
    sum += value * value;
  }
  if (params.normed != 0u && norm < 2u) {
    let root = sqrt(sum_of_threads(sum, thread) / f32(params.width) + params.eps);
    for (var i = thread; i < params.width; i += THREADS) {
      row[i] = row[i] / root * norms[norm * params.width + i];
    }
  }
  workgroupBarrier();
}

fn split(head_of_x: u32, thread: u32) {
  if (head_of_x >= params.tokens * params.joined) {
    return;
  }
  let head = head_of_x % params.joined;
  let token = head_of_x / params.joined;
  let place = place_of(token);
  let end = params.heads + params.kv_heads;
  read_head(head_of_x * params.width, u32(head >= params.heads) + u32(head >= end), thread);
  if (head < params.heads) {
    let start = (token * params.heads + head) * params.width;
    for (var at = thread; at < params.width; at += THREADS) {
      y[start + at] = turned(at, at, place);
    }
  } else if (place < params.capacity) {
    if (head < end) {
      let own = row_of(token, head - params.heads, params.kv_heads, place);
      store_key(own, place, thread);
    } else {
      store_value(row_of(token, head - end, params.kv_heads, place), thread);
    }
  }
}
