// loss[r] = log(sum over j of exp(x[r, j])) - x[r, target[r]], and probs[r, j] = softmax(x[r])[j].
//
// Online softmax (https://arxiv.org/abs/1805.02867): one read gathers maximum and sum, a second
// writes probs; the loss comes from the same two numbers, so it is stable where a probability
// rounds to 0. A row is a workgroup's. A target outside the classes gives NaN.

struct Params {
  rows: u32,
  classes: u32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> targets: array<i32>;
@group(0) @binding(2) var<storage, read_write> loss: array<f32>;
@group(0) @binding(3) var<storage, read_write> probs: array<f32>;
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
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let row = group.y * groups.x + group.x;
  if (row >= params.rows) {
    return;
  }
  let base = row * params.classes;
  var running = empty();
  for (var j = thread; j < params.classes; j += THREADS) {
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
  for (var j = thread; j < params.classes; j += THREADS) {
    probs[base + j] = probability(running, x[base + j]);
  }
  if (thread == 0u) {
    let goal = targets[row];
    var value = from_bits(0x7fc00000u);
    if (goal >= 0 && u32(goal) < params.classes && !is_undefined(running)) {
      value = log(running.sum) + (running.largest - x[base + u32(goal)]);
    }
    loss[row] = value;
  }
}
