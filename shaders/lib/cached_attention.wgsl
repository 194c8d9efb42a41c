// Causal attention to a cache of keys and values. The queries are [queries, heads, width], of
// sequences with `each` of them, at the positions from position[sequence] on. Keys and values are in
// slots [kv_heads, capacity, width] of the cache, slots[sequence] for a sequence. A slot is filled
// up to the last query. y has the shape of the queries. A workgroup computes one head of QUERIES
// consecutive queries of a sequence, THREADS keys at a time. Each thread first computes the scores of
// a key. Then it sums a vec4 of the width over its share of the values. Sums are scaled to the largest
// score so far. Keys and values are read each / QUERIES times.
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

override QUERIES: u32 = 1u;
override QUADS: u32 = 128u; // of the largest width
override SEVERAL: u32 = 0u; // 1: QUERIES is more than 1

var<workgroup> query: array<vec4f, QUERIES * QUADS>;
var<workgroup> shares: array<array<f32, THREADS>, QUERIES>;
var<workgroup> sums: array<vec4f, THREADS>;

fn capped(score: f32) -> f32 {
  if (params.softcap > 0.0) {
    return params.softcap * tanh(score / params.softcap);
  }
  return score;
}

// A value's share. Values that a query does not see have no share and may be NaN.
fn weighted(share: f32, value: vec4f) -> vec4f {
  //#if SEVERAL
  return select(vec4f(), share * value, share > 0.0);
  //#else
  return share * value;
  //#endif
}

// Computes a head (group.x) of QUERIES queries (group.y) in a workgroup.
fn attend(group: vec3u, thread: u32) {
  let head = group.x;
  let parts_of_sequence = (params.each + QUERIES - 1u) / QUERIES;
  let sequence = group.y / parts_of_sequence;
  let number = group.y % parts_of_sequence * QUERIES; // of the first query in the sequence
  let room = u32(slots[sequence]) * params.kv_heads + head / (params.heads / params.kv_heads);
  let base = room * params.capacity;
  // Queries beyond the sequence are replaced by its last one, and not written.
  let last = params.each - 1u;
  let place = u32(position[sequence]) + 1u;
  //#repeat QUERY QUERIES
  let own_QUERY = ((sequence * params.each + min(number + QUERY, last)) * params.heads + head)
    * params.quads;
  let end_QUERY = min(place + min(number + QUERY, last), params.capacity);
  let first_QUERY = select(0u, end_QUERY - params.window,
    params.window > 0u && end_QUERY > params.window);
  if (thread < params.quads) {
    query[QUERY * QUADS + thread] = params.scale * q[own_QUERY + thread];
  }
  var largest_QUERY = LOWEST;
  var total_QUERY = 0.0;
  var sum_QUERY = vec4f();
  //#end
  let end = min(place + min(number + QUERIES - 1u, last), params.capacity);
  workgroupBarrier();
  let parts = THREADS / params.quads;
  let part = thread / params.quads; // its share of the values
  let lane = thread % params.quads;
  for (var start = first_0; start < end; start += THREADS) {
    let key = start + thread;
    //#repeat QUERY QUERIES
    let is_seen_QUERY = key >= first_QUERY && key < end_QUERY;
    var found_QUERY = vec4f();
    //#end
    if (key < end) {
      let row = base + key;
      var i = 0u;
      for (; i + 8u <= params.quads; i += 8u) { // eight reads do not wait for one another
        //#repeat QUAD 8
        let k_QUAD = key_quad(row, i + QUAD);
        //#end
        //#repeat QUERY QUERIES
        //#repeat QUAD 8
        found_QUERY += query[QUERY * QUADS + i + QUAD] * k_QUAD;
        //#end
        //#end
      }
      for (; i < params.quads; i++) {
        let k = key_quad(row, i);
        //#repeat QUERY QUERIES
        found_QUERY += query[QUERY * QUADS + i] * k;
        //#end
      }
    }
    //#repeat QUERY QUERIES
    let score_QUERY = select(LOWEST, capped(dot(found_QUERY, vec4f(1.0))), is_seen_QUERY);
    shares[QUERY][thread] = score_QUERY;
    //#end
    workgroupBarrier();
    for (var half = THREADS / 2u; half >= 1u; half /= 2u) {
      if (thread < half) {
        //#repeat QUERY QUERIES
        shares[QUERY][thread] = max(shares[QUERY][thread], shares[QUERY][thread + half]);
        //#end
      }
      workgroupBarrier();
    }
    //#repeat QUERY QUERIES
    let next_QUERY = max(largest_QUERY, shares[QUERY][0]);
    //#end
    workgroupBarrier();
    //#repeat QUERY QUERIES
    let factor_QUERY = exp(largest_QUERY - next_QUERY);
    let share_QUERY = select(0.0, exp(score_QUERY - next_QUERY), is_seen_QUERY);
    shares[QUERY][thread] = share_QUERY;
    total_QUERY = total_QUERY * factor_QUERY + share_QUERY;
    sum_QUERY *= factor_QUERY;
    largest_QUERY = next_QUERY;
    //#end
    workgroupBarrier();
    if (part < parts) {
      let count = min(THREADS, end - start);
      var i = part;
      for (; i + 3u * parts < count; i += 4u * parts) {
        let row = base + start + i;
        //#repeat PART 4
        let v_PART = value_quad(row + PART * parts, lane);
        //#end
        //#repeat QUERY QUERIES
        //#repeat PART 4
        sum_QUERY += weighted(shares[QUERY][i + PART * parts], v_PART);
        //#end
        //#end
      }
      for (; i < count; i += parts) {
        let v = value_quad(base + start + i, lane);
        //#repeat QUERY QUERIES
        sum_QUERY += weighted(shares[QUERY][i], v);
        //#end
      }
    }
    workgroupBarrier();
  }
  //#repeat QUERY QUERIES
  shares[QUERY][thread] = total_QUERY;
  //#end
  workgroupBarrier();
  for (var half = THREADS / 2u; half >= 1u; half /= 2u) {
    if (thread < half) {
      //#repeat QUERY QUERIES
      shares[QUERY][thread] += shares[QUERY][thread + half];
      //#end
    }
    workgroupBarrier();
  }
  //#repeat QUERY QUERIES
  sums[thread] = sum_QUERY;
  workgroupBarrier();
  if (thread < params.quads && number + QUERY <= last) {
    var all = sums[thread];
    for (var i = 1u; i < parts; i++) {
      all += sums[i * params.quads + thread];
    }
    y[own_QUERY + thread] = all / shares[QUERY][0];
  }
  workgroupBarrier();
  //#end
}
