// Gradients of o = softmax(scale q kᵀ) v without a mask, or with a causal one, for each z = batch ×
// heads + head. attention.wgsl describes rows and the layout of q, k, v and o. head_dim is a
// multiple of 4 and at most 64 COLUMNS. Floats are float32, or float16 with HALVES; then head_dim
// is a multiple of 8.
//
// Flash attention 2 (https://arxiv.org/abs/2307.08691, section 3.1.2): with p = softmax(scale q kᵀ)
// and g the gradient for o, the gradient for v is pᵀ g. The gradient for the scores is s = p (g vᵀ
// - delta), where delta is the sum of g × o in each row. Those for q and k are scale s k and scale
// sᵀ q. Nothing of the size of the scores is stored.
//
// main_sums writes (log2 of the sum of exp(scale q kᵀ), delta) of each row of q. main_queries
// computes 64 rows of the gradient for q, and main_keys 64 rows of those for k and v. Workgroups
// compute blocks of 64 × 64 scores from slices of 16 elements of the rows, which threads read ahead
// into registers. A thread computes 4 × 4 scores, then 4 rows × COLUMNS vec4s of the gradients.
// Cost: 16 z seq_q seq_kv head_dim operations, half as many if causal.
//
// In scores, column i has own row i of a thread and other rows in its elements: main_keys own keys,
// the others queries. Workgroup memory is 16 KiB: slices of own and other rows, twice, with element
// k of 4 rows in a vec4; later the block, with 4 own rows of another one in a vec4.

struct Params {
  seq_q: u32,
  seq_kv: u32,
  head_dim: u32,
  heads: u32,
  q_row: u32,
  kv_row: u32,
  k_first: u32,
  v_first: u32,
  g_row: u32, // of g and o
  d_row: u32, // of the gradients
  d_first: u32, // first element of the gradient for q or k
  d_second: u32, // first element of the gradient for v
  first_z: u32,
  causal: u32,
  scale: f32,
}

@group(0) @binding(0) var<storage, read> q: array<vec4u>;
@group(0) @binding(1) var<storage, read> k: array<vec4u>;
@group(0) @binding(2) var<storage, read> v: array<vec4u>;
@group(0) @binding(3) var<storage, read> g: array<vec4u>;
@group(0) @binding(4) var<storage, read> o: array<vec4u>;
@group(0) @binding(5) var<storage, read> sums: array<vec2f>;
@group(0) @binding(6) var<storage, read_write> new_sums: array<vec2f>;
@group(0) @binding(7) var<storage, read_write> d: array<vec2u>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/floats.wgsl
//#include lib/halves.wgsl

override COLUMNS: u32 = 1u; // 1 or 2
override HALVES: u32 = 0u;

const THREADS = 256u;
const LANES = 16u;
const BLOCK = 64u;
const SLICE = 4u; // vec4s
const LOG2_E = 1.44269504;
const LOWEST = -3.4028234e38;

var<workgroup> tile: array<vec4f, BLOCK * LANES>;

fn floats(chunk: vec4u, at: u32) -> vec4f {
  if (HALVES == 0u) {
    return bitcast<vec4f>(chunk);
  }
  return widened(select(chunk.xy, chunk.zw, (at & 1u) == 1u));
}

fn q_at(at: u32) -> vec4f {
  return floats(q[at >> HALVES], at);
}

fn k_at(at: u32) -> vec4f {
  return floats(k[at >> HALVES], at);
}

fn v_at(at: u32) -> vec4f {
  return floats(v[at >> HALVES], at);
}

fn g_at(at: u32) -> vec4f {
  return floats(g[at >> HALVES], at);
}

fn o_at(at: u32) -> vec4f {
  return floats(o[at >> HALVES], at);
}

// A workgroup's number among those of a z, and its z. GPUs start workgroups along x, then y, then
// z. Here the first of all z come first: in causal attention they have the most work, and the
// last ones, which have little, then fill the GPU evenly.
fn number_and_z(group: vec3u, groups: vec3u) -> vec2u {
  let at = (group.z * groups.y + group.y) * groups.x + group.x;
  return vec2u(at / groups.z, params.first_z + at % groups.z);
}

// The first vec4 of a head's rows
fn start(z: u32, rows: u32, pitch: u32) -> u32 {
  return z / params.heads * rows * (pitch / 4u) + z % params.heads * (params.head_dim / 4u);
}

// The vec4s of 4 rows from ``row`` on; past the end, of the last row
fn four_rows(base: u32, row: u32, count: u32, pitch: u32, column: u32) -> vec4u {
  let rows = min(row + vec4u(0u, 1u, 2u, 3u), vec4u(count - 1u));
  return base + rows * (pitch / 4u) + column;
}

fn of_q(z: u32, first: u32, row: u32, column: u32) -> mat4x4f {
  let at = four_rows(
    start(z, params.seq_q, params.q_row), first + row, params.seq_q, params.q_row, column);
  return transpose(mat4x4f(q_at(at.x), q_at(at.y), q_at(at.z), q_at(at.w)));
}

fn of_g(z: u32, first: u32, row: u32, column: u32) -> mat4x4f {
  let at = four_rows(
    start(z, params.seq_q, params.g_row), first + row, params.seq_q, params.g_row, column);
  return transpose(mat4x4f(g_at(at.x), g_at(at.y), g_at(at.z), g_at(at.w)));
}

fn of_k(z: u32, first: u32, row: u32, column: u32) -> mat4x4f {
  let base = params.k_first / 4u + start(z, params.seq_kv, params.kv_row);
  let at = four_rows(base, first + row, params.seq_kv, params.kv_row, column);
  return transpose(mat4x4f(k_at(at.x), k_at(at.y), k_at(at.z), k_at(at.w)));
}

fn of_v(z: u32, first: u32, row: u32, column: u32) -> mat4x4f {
  let base = params.v_first / 4u + start(z, params.seq_kv, params.kv_row);
  let at = four_rows(base, first + row, params.seq_kv, params.kv_row, column);
  return transpose(mat4x4f(v_at(at.x), v_at(at.y), v_at(at.z), v_at(at.w)));
}

// What a thread copies of a slice: 4 rows × 4 elements of own (0) or other rows (1), of q and k or
// k and q, or (2, 3) of g and v or v and g. Elements past the end of a row are 0.
fn for_scores(z: u32, first_query: u32, first_key: u32, column: u32, thread: u32) -> mat4x4f {
  let row = thread % LANES * 4u;
  let at = column + thread / LANES % SLICE;
  if (at >= params.head_dim / 4u) {
    return mat4x4f();
  }
  if (thread < BLOCK) {
    return of_q(z, first_query, row, at);
  }
  return of_k(z, first_key, row, at);
}

fn for_queries(z: u32, first_query: u32, first_key: u32, column: u32, thread: u32) -> mat4x4f {
  let which = thread / BLOCK;
  let row = thread % LANES * 4u;
  let at = column + thread / LANES % SLICE;
  if (which < 2u) {
    return for_scores(z, first_query, first_key, column, thread);
  }
  if (at >= params.head_dim / 4u) {
    return mat4x4f();
  }
  if (which == 2u) {
    return of_g(z, first_query, row, at);
  }
  return of_v(z, first_key, row, at);
}

fn for_keys(z: u32, first_query: u32, first_key: u32, column: u32, thread: u32) -> mat4x4f {
  let which = thread / BLOCK;
  let row = thread % LANES * 4u;
  let at = column + thread / LANES % SLICE;
  if (at >= params.head_dim / 4u) {
    return mat4x4f();
  }
  if (which == 0u) {
    return of_k(z, first_key, row, at);
  }
  if (which == 1u) {
    return of_q(z, first_query, row, at);
  }
  if (which == 2u) {
    return of_v(z, first_key, row, at);
  }
  return of_g(z, first_query, row, at);
}

// Writes 4 vec4s to workgroup memory, LANES apart.
fn put(at: u32, values: mat4x4f) {
  tile[at] = values[0];
  tile[at + LANES] = values[1];
  tile[at + 2u * LANES] = values[2];
  tile[at + 3u * LANES] = values[3];
}

// sums + a bᵀ
fn added(sums: mat4x4f, a: vec4f, b: vec4f) -> mat4x4f {
  return mat4x4f(
    fma(vec4f(a.x), b, sums[0]), fma(vec4f(a.y), b, sums[1]), fma(vec4f(a.z), b, sums[2]),
    fma(vec4f(a.w), b, sums[3]),
  );
}

// Whether queries see keys
fn visible(query: vec4u, key: vec4u) -> vec4<bool> {
  let inside = (query < vec4u(params.seq_q)) & (key < vec4u(params.seq_kv));
  return inside & ((key <= query) | vec4<bool>(params.causal == 0u));
}

fn write(at: u32, x: vec4f) {
  if (HALVES == 0u) {
    let bits = bitcast<vec4u>(x);
    d[2u * at] = bits.xy;
    d[2u * at + 1u] = bits.zw;
  } else {
    d[at] = narrowed(x);
  }
}

fn write_row(base: u32, row: u32, count: u32, lane: u32, first: vec4f, second: vec4f) {
  let steps = params.head_dim / 4u;
  let at = base + row * (params.d_row / 4u) + lane;
  if (row < count && lane < steps) {
    write(at, first);
  }
  if (COLUMNS > 1u && row < count && lane + LANES < steps) {
    write(at + LANES, second);
  }
}

// Writes 4 rows × COLUMNS vec4s of a gradient.
fn write_rows(base: u32, row: u32, count: u32, lane: u32, first: mat4x4f, second: mat4x4f) {
  write_row(base, row, count, lane, first[0], second[0]);
  write_row(base, row + 1u, count, lane, first[1], second[1]);
  write_row(base, row + 2u, count, lane, first[2], second[2]);
  write_row(base, row + 3u, count, lane, first[3], second[3]);
}

// A query's highest score, and the sum of exp2((score - highest) × factor), with 4 more scores
fn with_scores(known: vec2f, scores: vec4f, seen: vec4<bool>, factor: f32) -> vec2f {
  let score = select(vec4f(minus_infinity()), scores, seen);
  let raised = max(known.x, largest_of_four(score));
  let weights = sum_of_four(exp2((score - raised) * factor));
  return vec2f(raised, known.y * exp2((known.x - raised) * factor) + weights);
}

// (log2 of the sum of exponentials, delta) of a query
fn sums_of(z: u32, query: u32) -> vec2f {
  return sums[z * params.seq_q + min(query, params.seq_q - 1u)];
}

fn shares_of(scores: vec4f, logs: vec4f, seen: vec4<bool>) -> vec4f {
  return select(vec4f(), exp2(scores * params.scale * LOG2_E - logs), seen);
}

@compute @workgroup_size(THREADS)
fn main_sums(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let blocks = (params.seq_q + BLOCK - 1u) / BLOCK;
  let place = number_and_z(group, groups);
  let number = place.x;
  if (number >= blocks) {
    return;
  }
  let z = place.y;
  let first_query = (blocks - 1u - number) * BLOCK; // the longest rows first
  let lane = thread % LANES;
  let own = thread / LANES % LANES;
  let query = first_query + 4u * own;
  let factor = params.scale * LOG2_E;
  let steps = params.head_dim / 4u;
  var keys = params.seq_kv;
  if (params.causal != 0u) {
    keys = min(keys, first_query + BLOCK);
  }

  var row0 = vec2f(LOWEST, 0.0);
  var row1 = row0;
  var row2 = row0;
  var row3 = row0;
  for (var first_key = 0u; first_key < keys; first_key += BLOCK) {
    var scores = mat4x4f();
    for (var column = 0u; column < steps; column += SLICE) {
      var part = mat4x4f();
      if (thread < 2u * BLOCK) {
        part = for_scores(z, first_query, first_key, column, thread);
      }
      workgroupBarrier();
      if (thread < 2u * BLOCK) {
        let at = thread / LANES * BLOCK + thread % LANES;
        put(at, part);
      }
      workgroupBarrier();
      for (var i = 0u; i < 4u * SLICE; i++) {
        scores = added(scores, tile[i * LANES + own], tile[256u + i * LANES + lane]);
      }
    }
    let key = first_key + 4u * lane + vec4u(0u, 1u, 2u, 3u);
    row0 = with_scores(row0, scores[0], visible(vec4u(query), key), factor);
    row1 = with_scores(row1, scores[1], visible(vec4u(query + 1u), key), factor);
    row2 = with_scores(row2, scores[2], visible(vec4u(query + 2u), key), factor);
    row3 = with_scores(row3, scores[3], visible(vec4u(query + 3u), key), factor);
  }

  var delta = vec4f();
  let base = start(z, params.seq_q, params.g_row);
  for (var column = lane; column < steps; column += LANES) {
    let at = four_rows(base, query, params.seq_q, params.g_row, column);
    delta += vec4f(
      dot(g_at(at.x), o_at(at.x)), dot(g_at(at.y), o_at(at.y)), dot(g_at(at.z), o_at(at.z)),
      dot(g_at(at.w), o_at(at.w)),
    );
  }
  workgroupBarrier();
  let put_at = 4u * own * LANES + (lane ^ own);
  tile[put_at] = vec4f(row0, delta.x, 0.0);
  tile[put_at + LANES] = vec4f(row1, delta.y, 0.0);
  tile[put_at + 2u * LANES] = vec4f(row2, delta.z, 0.0);
  tile[put_at + 3u * LANES] = vec4f(row3, delta.w, 0.0);
  workgroupBarrier();
  if (thread < BLOCK && first_query + thread < params.seq_q) {
    var best = LOWEST;
    var sum = 0.0;
    var along = 0.0;
    for (var i = 0u; i < LANES; i++) {
      best = max(best, tile[thread * LANES + i].x);
    }
    for (var i = 0u; i < LANES; i++) {
      let part = tile[thread * LANES + (i ^ (thread / 4u))];
      sum += part.y * exp2((part.x - best) * factor);
      along += part.z;
    }
    new_sums[z * params.seq_q + first_query + thread] = vec2f(best * factor + log2(sum), along);
  }
}

@compute @workgroup_size(THREADS)
fn main_queries(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let blocks = (params.seq_q + BLOCK - 1u) / BLOCK;
  let place = number_and_z(group, groups);
  let number = place.x;
  if (number >= blocks) {
    return;
  }
  let z = place.y;
  let first_query = (blocks - 1u - number) * BLOCK; // the longest rows first
  let lane = thread % LANES;
  let own = thread / LANES % LANES;
  let query = first_query + 4u * own;
  let steps = params.head_dim / 4u;
  let put_at = thread / LANES * BLOCK + thread % LANES;
  let turned_at = 4u * lane * LANES + (own ^ lane); // in an order without bank conflicts
  let k_base = params.k_first / 4u + start(z, params.seq_kv, params.kv_row);
  let near = min(lane, steps - 1u);
  let far = min(lane + LANES, steps - 1u);
  var keys = params.seq_kv;
  if (params.causal != 0u) {
    keys = min(keys, first_query + BLOCK);
  }
  let row0 = sums_of(z, query);
  let row1 = sums_of(z, query + 1u);
  let row2 = sums_of(z, query + 2u);
  let row3 = sums_of(z, query + 3u);

  var found = mat4x4f();
  var found_far = mat4x4f();
  for (var first_key = 0u; first_key < keys; first_key += BLOCK) {
    var scores = mat4x4f();
    var slopes = mat4x4f();
    var next = for_queries(z, first_query, first_key, 0u, thread);
    for (var column = 0u; column < steps; column += SLICE) {
      workgroupBarrier();
      put(put_at, next);
      workgroupBarrier();
      next = for_queries(z, first_query, first_key, column + SLICE, thread);
      for (var i = 0u; i < 4u * SLICE; i++) {
        scores = added(scores, tile[i * LANES + own], tile[256u + i * LANES + lane]);
        slopes = added(slopes, tile[512u + i * LANES + own], tile[768u + i * LANES + lane]);
      }
    }
    let key = first_key + 4u * lane + vec4u(0u, 1u, 2u, 3u);
    slopes = transpose(mat4x4f(
      shares_of(scores[0], vec4f(row0.x), visible(vec4u(query), key)) * (slopes[0] - row0.y),
      shares_of(scores[1], vec4f(row1.x), visible(vec4u(query + 1u), key)) * (slopes[1] - row1.y),
      shares_of(scores[2], vec4f(row2.x), visible(vec4u(query + 2u), key)) * (slopes[2] - row2.y),
      shares_of(scores[3], vec4f(row3.x), visible(vec4u(query + 3u), key)) * (slopes[3] - row3.y),
    ));
    workgroupBarrier();
    put(turned_at, slopes);
    workgroupBarrier();
    let count = min(BLOCK, params.seq_kv - first_key);
    var at = k_base + first_key * (params.kv_row / 4u);
    for (var i = 0u; i < count; i++) {
      let slope = tile[i * LANES + (own ^ (i / 4u))];
      found = added(found, slope, k_at(at + near));
      if (COLUMNS > 1u) {
        found_far = added(found_far, slope, k_at(at + far));
      }
      at += params.kv_row / 4u;
    }
  }
  let base = params.d_first / 4u + start(z, params.seq_q, params.d_row);
  write_rows(base, query, params.seq_q, lane, found * params.scale, found_far * params.scale);
}

@compute @workgroup_size(THREADS)
fn main_keys(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let place = number_and_z(group, groups);
  let number = place.x;
  if (number >= (params.seq_kv + BLOCK - 1u) / BLOCK) {
    return;
  }
  let z = place.y;
  let first_key = number * BLOCK;
  let lane = thread % LANES;
  let own = thread / LANES % LANES;
  let key = first_key + 4u * own;
  let steps = params.head_dim / 4u;
  let put_at = thread / LANES * BLOCK + thread % LANES;
  let turned_at = 4u * lane * LANES + (own ^ lane); // in an order without bank conflicts
  let q_base = start(z, params.seq_q, params.q_row);
  let g_base = start(z, params.seq_q, params.g_row);
  let near = min(lane, steps - 1u);
  let far = min(lane + LANES, steps - 1u);

  var of_key = mat4x4f();
  var of_key_far = mat4x4f();
  var of_value = mat4x4f();
  var of_value_far = mat4x4f();
  // Earlier queries do not see the keys.
  for (var first_query = select(0u, first_key, params.causal != 0u); first_query < params.seq_q;
      first_query += BLOCK) {
    var scores = mat4x4f();
    var slopes = mat4x4f();
    var next = for_keys(z, first_query, first_key, 0u, thread);
    for (var column = 0u; column < steps; column += SLICE) {
      workgroupBarrier();
      put(put_at, next);
      workgroupBarrier();
      next = for_keys(z, first_query, first_key, column + SLICE, thread);
      for (var i = 0u; i < 4u * SLICE; i++) {
        scores = added(scores, tile[i * LANES + own], tile[256u + i * LANES + lane]);
        slopes = added(slopes, tile[512u + i * LANES + own], tile[768u + i * LANES + lane]);
      }
    }
    let query = first_query + 4u * lane + vec4u(0u, 1u, 2u, 3u);
    let row0 = sums_of(z, query.x);
    let row1 = sums_of(z, query.y);
    let row2 = sums_of(z, query.z);
    let row3 = sums_of(z, query.w);
    let logs = vec4f(row0.x, row1.x, row2.x, row3.x);
    let deltas = vec4f(row0.y, row1.y, row2.y, row3.y);
    let share0 = shares_of(scores[0], logs, visible(query, vec4u(key)));
    let share1 = shares_of(scores[1], logs, visible(query, vec4u(key + 1u)));
    let share2 = shares_of(scores[2], logs, visible(query, vec4u(key + 2u)));
    let share3 = shares_of(scores[3], logs, visible(query, vec4u(key + 3u)));
    slopes = transpose(mat4x4f(
      share0 * (slopes[0] - deltas), share1 * (slopes[1] - deltas), share2 * (slopes[2] - deltas),
      share3 * (slopes[3] - deltas),
    ));
    scores = transpose(mat4x4f(share0, share1, share2, share3));
    let count = min(BLOCK, params.seq_q - first_query);

    workgroupBarrier();
    put(turned_at, scores);
    workgroupBarrier();
    var from_g = g_base + first_query * (params.g_row / 4u);
    for (var i = 0u; i < count; i++) {
      let share = tile[i * LANES + (own ^ (i / 4u))];
      of_value = added(of_value, share, g_at(from_g + near));
      if (COLUMNS > 1u) {
        of_value_far = added(of_value_far, share, g_at(from_g + far));
      }
      from_g += params.g_row / 4u;
    }
    workgroupBarrier();
    put(turned_at, slopes);
    workgroupBarrier();
    var from_q = q_base + first_query * (params.q_row / 4u);
    for (var i = 0u; i < count; i++) {
      let slope = tile[i * LANES + (own ^ (i / 4u))];
      of_key = added(of_key, slope, q_at(from_q + near));
      if (COLUMNS > 1u) {
        of_key_far = added(of_key_far, slope, q_at(from_q + far));
      }
      from_q += params.q_row / 4u;
    }
  }
  let base = start(z, params.seq_kv, params.d_row);
  write_rows(
    params.d_first / 4u + base, key, params.seq_kv, lane, of_key * params.scale,
    of_key_far * params.scale);
  write_rows(params.d_second / 4u + base, key, params.seq_kv, lane, of_value, of_value_far);
}
