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

struct Running {
  largest: f32,
  sum: f32,
}

// Each sum is brought to the larger maximum. Equal maxima (both -infinity, too) need no factor,
// but of +infinity comes NaN.
fn merge(p: Running, q: Running) -> Running {
  let largest = max(p.largest, q.largest);
  let finite = largest <= 0x1.fffffep+127f; // or -infinity
  let p_sum = select(p.sum * exp(p.largest - largest), p.sum, finite && p.largest == largest);
  let q_sum = select(q.sum * exp(q.largest - largest), q.sum, finite && q.largest == largest);
  return Running(largest, p_sum + q_sum);
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
  var bits = 0xff800000u; // -infinity; a variable, since WGSL refuses it in constant expressions
  var running = Running(bitcast<f32>(bits), 0.0);
  for (var j = thread; j < params.classes; j += THREADS) {
    running = merge(running, Running(x[base + j], 1.0));
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
  for (var j = thread; j < params.classes; j += THREADS) {
    probs[base + j] = exp(x[base + j] - maxima[0]) / sums[0];
  }
  if (thread == 0u) {
    let goal = targets[row];
    bits = 0x7fc00000u;
    var value = bitcast<f32>(bits);
    if (goal >= 0 && u32(goal) < params.classes) {
      value = log(sums[0]) + (maxima[0] - x[base + u32(goal)]);
    }
    loss[row] = value;
  }
}
