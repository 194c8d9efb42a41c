// Attention of one token of each sequence to a cache of keys and values in float32, to which the
// token's own key and value are added. x [tokens, heads + 2 kv_heads, width] has the token's
// queries, keys and values. Queries and keys are normalized and rotated. A workgroup computes one
// head's part of the keys, SPAN keys at a time: four threads a key's score, then each thread a vec4
// of the width over its share of the values. Positions beyond the capacity are not written. With
// several parts, token_attention_join.wgsl makes the result of them.

struct Params {
  heads: u32,
  kv_heads: u32,
  width: u32,    // at most THREADS, a multiple of 4
  rotated: u32,
  adjacent: u32, // 1 if pairs are neighbors, 0 if they are rotated / 2 apart
  capacity: u32,
  entries: u32,  // positions of the table
  each: u32,     // 1
  normed: u32,   // 1 if queries and keys are normalized
  window: u32,   // number of keys that a query attends to, up to its own; 0 for all
  eps: f32,
  scale: f32,
  part: u32,     // keys of a part
  softcap: f32,  // scores become softcap tanh(score / softcap), 0 for no change
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> norms: array<f32>; // of queries and keys, [2, width]
@group(0) @binding(2) var<storage, read> angles: array<vec2f>; // [entries, rotated / 2]
@group(0) @binding(3) var<storage, read> position: array<i32>;
@group(0) @binding(4) var<storage, read> slots: array<i32>;
@group(0) @binding(5) var<storage, read_write> keys: array<vec4f>; // [slots, kv_heads, capacity, width]
@group(0) @binding(6) var<storage, read_write> values: array<vec4f>;
// [tokens, heads, width]. Or of each of several parts, after the sum of its values: their largest
// score, and the sum of their shares, [tokens, heads, parts, width + 2].
@group(0) @binding(7) var<storage, read_write> y: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

const THREADS = 256u;
const QUADS = 64u; // of the largest width
const SPAN = 512u; // two keys a thread
const LOWEST = -3.0e38;

var<workgroup> normed: array<f32, THREADS>;
var<workgroup> query: array<vec4f, QUADS>;
var<workgroup> own_key: array<vec4f, QUADS>;
var<workgroup> own_value: array<vec4f, QUADS>;
// Four parts of each score, then each key's share, and at the end the threads' sums of values.
var<workgroup> parts: array<f32, 4u * SPAN>;

//#include lib/rotary.wgsl

//#include lib/sum_of_threads.wgsl

fn element(i: u32) -> f32 {
  return normed[i];
}

// Reads a head into workgroup memory. Queries (norm 0) and keys (norm 1) are normalized.
fn read_head(start: u32, norm: u32, thread: u32) {
  var value = 0.0;
  if (thread < params.width) {
    value = x[start + thread];
  }
  workgroupBarrier();
  if (params.normed != 0u) {
    let root = sqrt(sum_of_threads(value * value, thread) / f32(params.width) + params.eps);
    if (thread < params.width) {
      value = value / root * norms[norm * params.width + thread];
    }
  }
  normed[thread] = value;
  workgroupBarrier();
}

fn four_turned(i: u32, place: u32) -> vec4f {
  return vec4f(
    turned(i, i, place), turned(i + 1u, i + 1u, place), turned(i + 2u, i + 2u, place),
    turned(i + 3u, i + 3u, place)
  );
}

fn four_of_x(at: u32) -> vec4f {
  return vec4f(x[at], x[at + 1u], x[at + 2u], x[at + 3u]);
}

fn largest_of_threads(value: f32, thread: u32) -> f32 {
  shares[thread] = value;
  workgroupBarrier();
  for (var quarter = THREADS / 4u; quarter >= 1u; quarter /= 4u) {
    if (thread < quarter) {
      let low = max(shares[thread], shares[thread + quarter]);
      let high = max(shares[thread + 2u * quarter], shares[thread + 3u * quarter]);
      shares[thread] = max(low, high);
    }
    workgroupBarrier();
  }
  return shares[0];
}

// The score of a key of the span.
fn score_of(key: u32) -> f32 {
  let low = parts[key] + parts[SPAN + key];
  let score = low + (parts[2u * SPAN + key] + parts[3u * SPAN + key]);
  if (params.softcap > 0.0) {
    return params.softcap * tanh(score / params.softcap);
  }
  return score;
}

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let head = group.x;
  let token = group.y;
  let place = place_of(token);
  let of_group = params.heads / params.kv_heads;
  let kv_head = head / of_group;
  let base = row_of(token, kv_head, params.kv_heads, 0u);
  let quads = params.width / 4u;
  let begin = token * (params.heads + 2u * params.kv_heads);
  let is_kept = place < params.capacity;
  let cached = min(place, params.capacity);
  let all = cached + u32(is_kept);
  let seen = select(0u, all - params.window, params.window > 0u && all > params.window);
  let first = seen + group.z * params.part;
  let end = min(all, first + params.part);
  let target_row = ((token * params.heads + head) * groups.z + group.z) * (params.width + 2u);
  if (first >= end) { // a later part than the last
    if (thread < 2u) {
      y[target_row + params.width + thread] = select(LOWEST, 0.0, thread == 1u);
    }
    return;
  }
  read_head((begin + head) * params.width, 0u, thread);
  if (thread < quads) {
    query[thread] = params.scale * four_turned(4u * thread, place);
  }
  read_head((begin + params.heads + kv_head) * params.width, 1u, thread);
  if (thread < quads) {
    let key = four_turned(4u * thread, place);
    let head_of_value = begin + params.heads + params.kv_heads + kv_head;
    let value = four_of_x(head_of_value * params.width + 4u * thread);
    own_key[thread] = key;
    own_value[thread] = value;
    if (is_kept && end == all && head % of_group == 0u) { // nobody reads it from the cache in this dispatch
      keys[(base + place) * quads + thread] = key;
      values[(base + place) * quads + thread] = value;
    }
  }
  workgroupBarrier();

  let shares_of_values = THREADS / quads;
  let part = thread / quads; // its share of the values
  let lane = thread % quads;
  let quarter = thread % 4u;
  var largest = LOWEST;
  var total = 0.0;
  var sum = vec4f();
  for (var start = first; start < end; start += SPAN) {
    let count = min(SPAN, end - start);
    let read = min(count, cached - min(cached, start)); // keys of the cache, without the own one
    for (var k = thread / 4u; k < read; k += THREADS / 2u) {
      let next = min(k + THREADS / 4u, read - 1u);
      let one = (base + start + k) * quads;
      let other = (base + start + next) * quads;
      var found = vec4f();
      var others = vec4f();
      var i = quarter;
      for (; i + 12u < quads; i += 16u) { // eight reads do not wait for one another
        //#repeat QUAD 4
        let a_QUAD = keys[one + i + QUAD * 4u];
        let b_QUAD = keys[other + i + QUAD * 4u];
        //#end
        //#repeat QUAD 4
        found += query[i + QUAD * 4u] * a_QUAD;
        others += query[i + QUAD * 4u] * b_QUAD;
        //#end
      }
      for (; i < quads; i += 4u) {
        found += query[i] * keys[one + i];
        others += query[i] * keys[other + i];
      }
      parts[quarter * SPAN + k] = dot(found, vec4f(1.0));
      if (k + THREADS / 4u < read) {
        parts[quarter * SPAN + next] = dot(others, vec4f(1.0));
      }
    }
    if (read < count && thread < 4u) {
      var found = 0.0;
      for (var i = quarter; i < quads; i += 4u) {
        found += dot(query[i], own_key[i]);
      }
      parts[quarter * SPAN + read] = found;
    }
    workgroupBarrier();
    var low = LOWEST;
    var high = LOWEST;
    if (thread < count) {
      low = score_of(thread);
    }
    if (thread + THREADS < count) {
      high = score_of(thread + THREADS);
    }
    let next = max(largest, largest_of_threads(max(low, high), thread));
    let factor = exp(largest - next);
    let share = select(0.0, exp(low - next), thread < count);
    let share_of_high = select(0.0, exp(high - next), thread + THREADS < count);
    parts[thread] = share;
    parts[thread + THREADS] = share_of_high;
    total = total * factor + share + share_of_high;
    sum *= factor;
    largest = next;
    workgroupBarrier();
    if (part < shares_of_values) {
      for (var i = part; i < read; i += 8u * shares_of_values) {
        //#repeat VALUE 8
        let at_VALUE = min(i + VALUE * shares_of_values, read - 1u);
        let v_VALUE = values[(base + start + at_VALUE) * quads + lane];
        //#end
        //#repeat VALUE 8
        if (i + VALUE * shares_of_values < read) {
          sum += parts[at_VALUE] * v_VALUE;
        }
        //#end
      }
      if (read < count && part == 0u) {
        sum += parts[read] * own_value[lane];
      }
    }
    workgroupBarrier();
  }
  let whole = sum_of_threads(total, thread);
  //#repeat COMPONENT 4
  parts[COMPONENT * THREADS + thread] = sum[COMPONENT];
  //#end
  workgroupBarrier();
  if (thread < params.width) {
    var sum_of_shares = 0.0;
    for (var i = 0u; i < shares_of_values; i++) {
      sum_of_shares += parts[thread % 4u * THREADS + i * quads + thread / 4u];
    }
    if (groups.z == 1u) {
      y[(token * params.heads + head) * params.width + thread] = sum_of_shares / whole;
    } else {
      y[target_row + thread] = sum_of_shares;
    }
  }
  if (groups.z > 1u && thread == 0u) {
    y[target_row + params.width] = largest;
    y[target_row + params.width + 1u] = whole;
  }
}
