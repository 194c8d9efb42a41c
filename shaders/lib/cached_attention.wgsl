// Causal attention to a cache of keys and values. The queries are [queries, heads, width], of
// sequences with `each` of them, at the positions from position[sequence] on. Keys and values are in
// slots [kv_heads, capacity, width] of the cache, slots[sequence] for a sequence. A slot is filled
// up to the last query. y has the shape of the queries. A workgroup computes one head of one query,
// THREADS keys at a time. Each thread first computes the score of a key. Then it sums a vec4 of the
// width over its share of the values. Sums are scaled to the largest score so far.
// The shader declares keys and values, and key_quad and value_quad, which read a vec4 of a row.

struct Params {
  queries: u32,
  heads: u32,
  kv_heads: u32,
  quads: u32,    // of the width
  capacity: u32,
  each: u32,     // queries of a sequence
  window: u32,   // number of keys that a query attends to, up to its own; 0 for all
  scale: f32,
  softcap: f32,  // scores become softcap tanh(score / softcap), 0 for no change
}

@group(0) @binding(0) var<storage, read> q: array<vec4f>;
@group(0) @binding(3) var<storage, read> position: array<i32>;
@group(0) @binding(4) var<storage, read> slots: array<i32>;
@group(0) @binding(5) var<storage, read_write> y: array<vec4f>;
@group(1) @binding(0) var<uniform> params: Params;

const THREADS = 128u;
const LOWEST = -3.0e38;

var<workgroup> query: array<vec4f, THREADS>;
var<workgroup> sums: array<vec4f, THREADS>;

//#include lib/sum_of_threads.wgsl

fn score_of(key: u32) -> f32 {
  var found = vec4f();
  var i = 0u;
  for (; i + 8u <= params.quads; i += 8u) { // eight reads do not wait for one another
    let k0 = key_quad(key, i);
    let k1 = key_quad(key, i + 1u);
    let k2 = key_quad(key, i + 2u);
    let k3 = key_quad(key, i + 3u);
    let k4 = key_quad(key, i + 4u);
    let k5 = key_quad(key, i + 5u);
    let k6 = key_quad(key, i + 6u);
    let k7 = key_quad(key, i + 7u);
    found += query[i] * k0 + query[i + 1u] * k1 + query[i + 2u] * k2 + query[i + 3u] * k3
      + query[i + 4u] * k4 + query[i + 5u] * k5 + query[i + 6u] * k6 + query[i + 7u] * k7;
  }
  for (; i < params.quads; i++) {
    found += query[i] * key_quad(key, i);
  }
  let score = dot(found, vec4f(1.0));
  if (params.softcap > 0.0) {
    return params.softcap * tanh(score / params.softcap);
  }
  return score;
}

// The largest of all threads' numbers.
fn largest_of(value: f32, thread: u32) -> f32 {
  shares[thread] = value;
  workgroupBarrier();
  for (var half = THREADS / 2u; half >= 1u; half /= 2u) {
    if (thread < half) {
      shares[thread] = max(shares[thread], shares[thread + half]);
    }
    workgroupBarrier();
  }
  let found = shares[0];
  workgroupBarrier();
  return found;
}

// Computes a head (group.x) of a query (group.y) in a workgroup.
fn attend(group: vec3u, thread: u32) {
  let head = group.x;
  let own = (group.y * params.heads + head) * params.quads;
  let sequence = group.y / params.each;
  let room = u32(slots[sequence]) * params.kv_heads + head / (params.heads / params.kv_heads);
  let base = room * params.capacity;
  let count = min(u32(position[sequence]) + group.y % params.each + 1u, params.capacity);
  var first = 0u;
  if (params.window > 0u && count > params.window) {
    first = count - params.window;
  }
  if (thread < params.quads) {
    query[thread] = params.scale * q[own + thread];
  }
  workgroupBarrier();
  let parts = THREADS / params.quads;
  let part = thread / params.quads; // its share of the values
  let lane = thread % params.quads;
  var largest = LOWEST;
  var total = 0.0;
  var sum = vec4f();
  for (var start = first; start < count; start += THREADS) {
    let key = start + thread;
    var score = LOWEST;
    if (key < count) {
      score = score_of(base + key);
    }
    let next = max(largest, largest_of(score, thread));
    let factor = exp(largest - next);
    var share = 0.0;
    if (key < count) {
      share = exp(score - next);
    }
    shares[thread] = share;
    total = total * factor + share;
    sum *= factor;
    largest = next;
    workgroupBarrier();
    if (part < parts) {
      let number = min(THREADS, count - start);
      var i = part;
      for (; i + 3u * parts < number; i += 4u * parts) {
        let row = base + start + i;
        let v0 = value_quad(row, lane);
        let v1 = value_quad(row + parts, lane);
        let v2 = value_quad(row + 2u * parts, lane);
        let v3 = value_quad(row + 3u * parts, lane);
        sum += shares[i] * v0 + shares[i + parts] * v1 + shares[i + 2u * parts] * v2
          + shares[i + 3u * parts] * v3;
      }
      for (; i < number; i += parts) {
        sum += shares[i] * value_quad(base + start + i, lane);
      }
    }
    workgroupBarrier();
  }
  sums[thread] = sum;
  let whole = sum_of_threads(total, thread);
  if (thread < params.quads) {
    var all = sums[thread];
    for (var i = 1u; i < parts; i++) {
      all += sums[i * params.quads + thread];
    }
    y[own + thread] = all / whole;
  }
}
