// y[o, j, i] = exp(x[o, j, i]) / sum over j of exp(x[o, j, i]), for x of [outer, length, inner].
//
// main_rows (inner = 1) reads x once: `lanes` neighbouring threads of a workgroup hold a row in
// registers, four values HELD times each, and combine in trees. main_rows_aligned uses vec4s if
// length is divisible by 4.
//
// The others are for rows of any length and for columns, and are online
// (https://arxiv.org/abs/1805.02867): one read keeps a running maximum and the sum scaled to it,
// and a second read writes the result. `lanes` neighbouring threads take neighbouring columns; the
// other threads of the workgroup take other rows. main_columns processes a column in one workgroup.
// main_parts and main_apply divide it into `chunks`: the first writes each chunk's maximum and sum
// to parts, the second merges them. main_parts_halves is main_parts for rows of float16 (inner = 1).
// Large values do not overflow.

struct Params {
  outer: u32,
  length: u32,
  inner: u32,
  chunk: u32, // rows per chunk; the last may be shorter
  chunks: u32,
  lanes: u32, // a power of two, at most THREADS
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(0) var<storage, read> x_vectors: array<vec4f>;
@group(0) @binding(0) var<storage, read> x_halves: array<u32>; // two each
@group(0) @binding(1) var<storage, read> parts: array<vec2f>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<storage, read_write> y_vectors: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> new_parts: array<vec2f>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/running_softmax.wgsl

fn load(row: u32, j: u32) -> f32 {
  if (row < params.outer && j < params.length) {
    return x[row * params.length + j];
  }
  return minus_infinity();
}

@compute @workgroup_size(THREADS)
fn main_rows(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let own = place(group, groups, thread);
  let step = params.lanes;
  var held: array<vec4f, MOST>;
  for (var k = 0u; k < HELD; k++) {
    let j = own.lane + 4u * k * step;
    held[k] = vec4f(
      load(own.row, j), load(own.row, j + step), load(own.row, j + 2u * step),
      load(own.row, j + 3u * step));
  }
  let scale = factor(weigh(&held, thread));
  if (own.row < params.outer) {
    let base = own.row * params.length;
    for (var k = 0u; k < HELD; k++) {
      for (var part = 0u; part < 4u; part++) {
        let j = own.lane + (4u * k + part) * step;
        if (j < params.length) {
          y[base + j] = held[k][part] * scale;
        }
      }
    }
  }
}

@compute @workgroup_size(THREADS)
fn main_rows_aligned(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let own = place(group, groups, thread);
  let length = select(0u, params.length / 4u, own.row < params.outer);
  let base = own.row * length;
  var held: array<vec4f, MOST>;
  for (var k = 0u; k < HELD; k++) {
    let j = own.lane + k * params.lanes;
    held[k] = vec4f(minus_infinity());
    if (j < length) {
      held[k] = x_vectors[base + j];
    }
  }
  let scale = factor(weigh(&held, thread));
  for (var k = 0u; k < HELD; k++) {
    let j = own.lane + k * params.lanes;
    if (j < length) {
      y_vectors[base + j] = held[k] * scale;
    }
  }
}

// Includes four more values; -infinity represents a missing one.
fn include(running: Running, v: vec4f) -> Running {
  let good = is_good(v);
  let largest = max(running.largest, largest_of_four(select(vec4f(minus_infinity()), v, good)));
  if (running.sum < 0.0 || !all(good)) {
    return Running(0.0, SPOILED);
  }
  if (is_minus_infinity(largest)) {
    return running;
  }
  return Running(
    largest, running.sum * exp(running.largest - largest) + sum_of_four(exp(v - largest)));
}

struct Share {
  o: u32,
  chunk: u32,
  column: u32,
  line: u32, // the first of its rows; the others follow `lines` apart
  lines: u32,
  end: u32,
}

fn share(group: vec3u, groups: vec3u, thread: u32) -> Share {
  let blocks = (params.inner + params.lanes - 1u) / params.lanes;
  let which = group.y * groups.x + group.x; // (outer × chunks + chunk) × blocks + block
  let chunk = which / blocks % params.chunks;
  let o = which / blocks / params.chunks;
  let column = which % blocks * params.lanes + (thread & (params.lanes - 1u));
  let start = chunk * params.chunk;
  // Without work, there are no rows.
  let end = select(
    0u, min(start + params.chunk, params.length), column < params.inner && o < params.outer);
  return Share(o, chunk, column, start + thread / params.lanes, THREADS / params.lanes, end);
}

// Combines a column's rows in this workgroup, for all its threads.
fn combine_lines(own: Running, thread: u32) -> Running {
  var running = own;
  partial_runs[thread] = vec2f(running.largest, running.sum);
  for (var half = THREADS / 2u; half >= params.lanes; half >>= 1u) {
    workgroupBarrier();
    if (thread < half) {
      let other = partial_runs[thread + half];
      running = merge(running, Running(other.x, other.y));
      partial_runs[thread] = vec2f(running.largest, running.sum);
    }
  }
  workgroupBarrier();
  let all = partial_runs[thread & (params.lanes - 1u)];
  return Running(all.x, all.y);
}

fn run_of(own: Share) -> Running {
  var running = Running(minus_infinity(), 0.0);
  let step = own.lines * params.inner;
  var at = (own.o * params.length + own.line) * params.inner + own.column;
  var j = own.line;
  for (; j + 3u * own.lines < own.end; j += 4u * own.lines) {
    running = include(running, vec4f(x[at], x[at + step], x[at + 2u * step], x[at + 3u * step]));
    at += 4u * step;
  }
  for (; j < own.end; j += own.lines) {
    running = include(running, vec4f(x[at], vec3f(minus_infinity())));
    at += step;
  }
  return running;
}

// The two halves of a word, and -infinity for those outside [start, end).
fn load_halves(word: u32, start: u32, end: u32) -> vec2f {
  let i = 2u * word + vec2u(0u, 1u);
  if (i.x >= end) {
    return vec2f(minus_infinity());
  }
  let inside = (i >= vec2u(start)) & (i < vec2u(end));
  return select(vec2f(minus_infinity()), unpack2x16float(x_halves[word]), inside);
}

fn run_of_halves(own: Share, thread: u32) -> Running {
  var running = Running(minus_infinity(), 0.0);
  if (own.end == 0u) {
    return running;
  }
  let base = own.o * params.length;
  let start = base + own.chunk * params.chunk;
  let end = base + own.end;
  for (var word = start / 2u + thread; 2u * word < end; word += 2u * THREADS) {
    running = include(
      running, vec4f(load_halves(word, start, end), load_halves(word + THREADS, start, end)));
  }
  return running;
}

fn apply(own: Share, running: Running) {
  let scale = factor(running);
  let step = own.lines * params.inner;
  var at = (own.o * params.length + own.line) * params.inner + own.column;
  var j = own.line;
  for (; j + 3u * own.lines < own.end; j += 4u * own.lines) {
    let v = vec4f(x[at], x[at + step], x[at + 2u * step], x[at + 3u * step]);
    let result = exp(v - running.largest) * scale;
    y[at] = result.x;
    y[at + step] = result.y;
    y[at + 2u * step] = result.z;
    y[at + 3u * step] = result.w;
    at += 4u * step;
  }
  for (; j < own.end; j += own.lines) {
    y[at] = exp(x[at] - running.largest) * scale;
    at += step;
  }
}

@compute @workgroup_size(THREADS)
fn main_columns(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let own = share(group, groups, thread);
  apply(own, combine_lines(run_of(own), thread));
}

fn store_part(own: Share, running: Running, thread: u32) {
  if (thread < params.lanes && own.end > 0u) {
    let at = (own.o * params.chunks + own.chunk) * params.inner + own.column;
    new_parts[at] = vec2f(running.largest, running.sum);
  }
}

@compute @workgroup_size(THREADS)
fn main_parts(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let own = share(group, groups, thread);
  store_part(own, combine_lines(run_of(own), thread), thread);
}

@compute @workgroup_size(THREADS)
fn main_parts_halves(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let own = share(group, groups, thread);
  store_part(own, combine_lines(run_of_halves(own, thread), thread), thread);
}

@compute @workgroup_size(THREADS)
fn main_apply(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let own = share(group, groups, thread);
  var running = Running(minus_infinity(), 0.0);
  if (own.end > 0u) {
    for (var chunk = thread / params.lanes; chunk < params.chunks; chunk += own.lines) {
      let part = parts[(own.o * params.chunks + chunk) * params.inner + own.column];
      running = merge(running, Running(part.x, part.y));
    }
  }
  apply(own, combine_lines(running, thread));
}
