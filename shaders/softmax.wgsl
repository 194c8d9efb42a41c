// y[o, j, i] = exp(x[o, j, i]) / sum over j of exp(x[o, j, i]): x is [outer, length, inner].
//
// Online (https://arxiv.org/abs/1805.02867): one read keeps a running maximum and the sum scaled
// to it, a second read writes the result, so x is read twice and large values do not overflow.
// main_rows (inner = 1) gives a row to a workgroup, whose threads read neighbouring words and
// combine in a tree; main_columns gives a column to each thread. Rows of any length.

struct Params {
  outer: u32,
  length: u32,
  inner: u32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

const THREADS = 256u;

var<workgroup> maxima: array<f32, THREADS>;
var<workgroup> sums: array<f32, THREADS>;

// A running softmax denominator: the largest value so far, and the sum of exp(value - largest).
// The sum is SPOILED once NaN or +infinity came, which make the whole row NaN: what max and exp
// make of those is left open by WGSL.
struct Running {
  largest: f32,
  sum: f32,
}

const SPOILED = -1.0;

// From bits that are not constant, since WGSL refuses infinities and NaN in constant expressions.
fn from_bits(bits: u32) -> f32 {
  var word = bits;
  return bitcast<f32>(word);
}

fn empty() -> Running {
  return Running(from_bits(0xff800000u), 0.0);
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

fn include(running: Running, value: f32) -> Running {
  let bits = bitcast<u32>(value);
  let good = (bits & 0x7fffffffu) < 0x7f800000u || bits == 0xff800000u;
  return merge(running, Running(value, select(SPOILED, 1.0, good)));
}

// A row of nothing but -infinity has no softmax either.
fn is_undefined(running: Running) -> bool {
  return running.sum < 0.0 || bitcast<u32>(running.largest) == 0xff800000u;
}

fn probability(running: Running, value: f32) -> f32 {
  return select(
    exp(value - running.largest) / running.sum, from_bits(0x7fc00000u), is_undefined(running));
}

@compute @workgroup_size(THREADS)
fn main_rows(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let row = group.y * groups.x + group.x;
  if (row >= params.outer) {
    return;
  }
  let base = row * params.length;
  var running = empty();
  for (var j = thread; j < params.length; j += THREADS) {
    running = include(running, x[base + j]);
  }
  maxima[thread] = running.largest;
  sums[thread] = running.sum;
  for (var half = THREADS / 2u; half > 0u; half >>= 1u) {
    workgroupBarrier();
    if (thread < half) {
      let merged = merge(
        Running(maxima[thread], sums[thread]),
        Running(maxima[thread + half], sums[thread + half]));
      maxima[thread] = merged.largest;
      sums[thread] = merged.sum;
    }
  }
  workgroupBarrier();
  running = Running(maxima[0], sums[0]);
  for (var j = thread; j < params.length; j += THREADS) {
    y[base + j] = probability(running, x[base + j]);
  }
}

@compute @workgroup_size(THREADS)
fn main_columns(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let which = id.y * groups.x * THREADS + id.x; // outer × inner + column
  if (which >= params.outer * params.inner) {
    return;
  }
  let base = which / params.inner * params.length * params.inner + which % params.inner;
  var running = empty();
  for (var j = 0u; j < params.length; j++) {
    running = include(running, x[base + j * params.inner]);
  }
  for (var j = 0u; j < params.length; j++) {
    let at = base + j * params.inner;
    y[at] = probability(running, x[at]);
  }
}
