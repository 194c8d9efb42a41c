// loss[r] = log(sum over j of exp(x[r, j])) - x[r, target[r]], and probs[r, j] = softmax(x[r])[j].
//
// Reads x once: `lanes` neighbouring threads of a workgroup hold a row in registers, four values
// HELD times each, and combine in trees; main_aligned does so where classes is a multiple of 4, by
// vec4s. main_long takes the probs from softmax.wgsl, together with each chunk's maximum and sum
// there, and has a workgroup a row. The loss comes from maximum and sum, so it is stable where a
// probability rounds to 0. A target outside the classes gives NaN.

struct Params {
  rows: u32,
  classes: u32,
  chunks: u32,
  lanes: u32, // a power of two, at most THREADS
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> targets: array<i32>;
@group(0) @binding(2) var<storage, read> parts: array<vec2f>;
@group(0) @binding(3) var<storage, read_write> loss: array<f32>;
@group(0) @binding(4) var<storage, read_write> probs: array<f32>;
@group(0) @binding(4) var<storage, read_write> probs_vectors: array<vec4f>;
@group(0) @binding(5) var<storage, read> x_vectors: array<vec4f>; // x once more
@group(1) @binding(0) var<uniform> params: Params;

const THREADS = 256u;
const MOST = 16u;
override HELD: u32 = 4u; // at most MOST

var<workgroup> partial: array<f32, THREADS>;
var<workgroup> partial_runs: array<vec2f, THREADS>;

// From bits that are not constant, since WGSL refuses infinities and NaN in constant expressions.
fn from_bits(bits: u32) -> f32 {
  var word = bits;
  return bitcast<f32>(word);
}

fn minus_infinity() -> f32 {
  return from_bits(0xff800000u);
}

fn is_minus_infinity(v: f32) -> bool {
  return bitcast<u32>(v) == 0xff800000u;
}

// Finite or -infinity. NaN and +infinity make the whole row NaN: what max and exp make of those is
// left open by WGSL.
fn is_good(v: vec4f) -> vec4<bool> {
  let bits = bitcast<vec4u>(v);
  return ((bits & vec4u(0x7fffffffu)) < vec4u(0x7f800000u)) | (bits == vec4u(0xff800000u));
}

// A softmax denominator: the largest value, and the sum of exp(value - largest). The sum is
// negative once NaN or +infinity came.
struct Running {
  largest: f32,
  sum: f32,
}

const SPOILED = -1e30; // less than any sum of others makes up for

// A row of nothing but -infinity has no softmax either.
fn is_undefined(running: Running) -> bool {
  return running.sum < 0.0 || is_minus_infinity(running.largest);
}

fn factor(running: Running) -> f32 {
  return select(1.0 / running.sum, from_bits(0x7fc00000u), is_undefined(running));
}

fn largest_of(v: vec4f) -> f32 {
  return max(max(v.x, v.y), max(v.z, v.w));
}

fn sum_of(v: vec4f) -> f32 {
  return (v.x + v.y) + (v.z + v.w);
}

// The largest of `lanes` threads' values, for all of them. Each step leaves a quarter.
fn largest_of_lanes(value: f32, thread: u32) -> f32 {
  let first = thread & ~(params.lanes - 1u);
  var largest = value;
  partial[thread] = value;
  for (var rest = params.lanes; rest > 1u;) {
    let step = (rest + 3u) / 4u;
    workgroupBarrier();
    if (thread - first < step) {
      for (var other = step; other < rest; other += step) {
        largest = max(largest, partial[thread + other]);
      }
      partial[thread] = largest;
    }
    rest = step;
  }
  workgroupBarrier();
  largest = partial[first];
  workgroupBarrier();
  return largest;
}

fn sum_of_lanes(value: f32, thread: u32) -> f32 {
  let first = thread & ~(params.lanes - 1u);
  var sum = value;
  partial[thread] = value;
  for (var rest = params.lanes; rest > 1u;) {
    let step = (rest + 3u) / 4u;
    workgroupBarrier();
    if (thread - first < step) {
      for (var other = step; other < rest; other += step) {
        sum += partial[thread + other];
      }
      partial[thread] = sum;
    }
    rest = step;
  }
  workgroupBarrier();
  return partial[first];
}

// Replaces a row's values by exp(value - largest). -infinity stands for what is not there.
fn weigh(held: ptr<function, array<vec4f, MOST>>, thread: u32) -> Running {
  var good = vec4<bool>(true);
  var top = vec4f(minus_infinity());
  for (var k = 0u; k < HELD; k++) {
    let value = (*held)[k];
    let is_value_good = is_good(value);
    good = good & is_value_good;
    top = max(top, select(vec4f(minus_infinity()), value, is_value_good));
  }
  let largest = largest_of_lanes(largest_of(top), thread);
  var sum = vec4f();
  for (var k = 0u; k < HELD; k++) {
    let weight = exp((*held)[k] - largest);
    (*held)[k] = weight;
    sum += weight;
  }
  return Running(largest, sum_of_lanes(select(SPOILED, sum_of(sum), all(good)), thread));
}

struct Place {
  row: u32,
  lane: u32, // of the row's threads
}

fn place(group: vec3u, groups: vec3u, thread: u32) -> Place {
  let rows = THREADS / params.lanes;
  let row = (group.y * groups.x + group.x) * rows + thread / params.lanes;
  return Place(row, thread & (params.lanes - 1u));
}

fn load(row: u32, j: u32) -> f32 {
  if (row < params.rows && j < params.classes) {
    return x[row * params.classes + j];
  }
  return minus_infinity();
}

fn store_loss(row: u32, running: Running) {
  let goal = targets[row];
  var value = from_bits(0x7fc00000u);
  if (goal >= 0 && u32(goal) < params.classes && !is_undefined(running)) {
    value = log(running.sum) + (running.largest - x[row * params.classes + u32(goal)]);
  }
  loss[row] = value;
}

@compute @workgroup_size(THREADS)
fn main(
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
  let running = weigh(&held, thread);
  if (own.row >= params.rows) {
    return;
  }
  let scale = factor(running);
  let base = own.row * params.classes;
  for (var k = 0u; k < HELD; k++) {
    for (var part = 0u; part < 4u; part++) {
      let j = own.lane + (4u * k + part) * step;
      if (j < params.classes) {
        probs[base + j] = held[k][part] * scale;
      }
    }
  }
  if (own.lane == 0u) {
    store_loss(own.row, running);
  }
}

@compute @workgroup_size(THREADS)
fn main_aligned(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let own = place(group, groups, thread);
  let length = select(0u, params.classes / 4u, own.row < params.rows);
  let base = own.row * length;
  var held: array<vec4f, MOST>;
  for (var k = 0u; k < HELD; k++) {
    let j = own.lane + k * params.lanes;
    held[k] = vec4f(minus_infinity());
    if (j < length) {
      held[k] = x_vectors[base + j];
    }
  }
  let running = weigh(&held, thread);
  let scale = factor(running);
  for (var k = 0u; k < HELD; k++) {
    let j = own.lane + k * params.lanes;
    if (j < length) {
      probs_vectors[base + j] = held[k] * scale;
    }
  }
  if (own.lane == 0u && own.row < params.rows) {
    store_loss(own.row, running);
  }
}

// Each sum is brought to the larger maximum. Equal maxima (both -infinity, too) need no factor.
fn merge(p: Running, q: Running) -> Running {
  if (p.sum < 0.0 || q.sum < 0.0) {
    return Running(0.0, SPOILED);
  }
  let largest = max(p.largest, q.largest);
  let p_sum = select(p.sum * exp(p.largest - largest), p.sum, p.largest == largest);
  let q_sum = select(q.sum * exp(q.largest - largest), q.sum, q.largest == largest);
  return Running(largest, p_sum + q_sum);
}

@compute @workgroup_size(THREADS)
fn main_long(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let row = group.y * groups.x + group.x;
  if (row >= params.rows) {
    return;
  }
  var running = Running(minus_infinity(), 0.0);
  for (var chunk = thread; chunk < params.chunks; chunk += THREADS) {
    let part = parts[row * params.chunks + chunk];
    running = merge(running, Running(part.x, part.y));
  }
  partial_runs[thread] = vec2f(running.largest, running.sum);
  for (var half = THREADS / 2u; half > 0u; half >>= 1u) {
    workgroupBarrier();
    if (thread < half) {
      let other = partial_runs[thread + half];
      running = merge(running, Running(other.x, other.y));
      partial_runs[thread] = vec2f(running.largest, running.sum);
    }
  }
  if (thread == 0u) {
    store_loss(row, running);
  }
}
