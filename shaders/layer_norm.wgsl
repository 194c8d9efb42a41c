// y[r, j] = (x[r, j] - mean of row r) / sqrt(variance of row r + eps) * gamma[j] + beta[j].
//
// The variance is the biased one. One read gathers count, mean and squared deviations by Chan's
// parallel form of Welford's method (https://doi.org/10.1080/00031305.1983.10483115), which does
// not cancel for large means; a second read writes the result. A row is a workgroup's.

struct Params {
  rows: u32,
  length: u32,
  eps: f32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> gamma: array<f32>;
@group(0) @binding(2) var<storage, read> beta: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

const THREADS = 256u;

struct Moments {
  count: f32,
  mean: f32,
  deviations: f32, // sum of squared differences from the mean
}

var<workgroup> shared_moments: array<Moments, THREADS>;

fn merge(p: Moments, q: Moments) -> Moments {
  if (q.count == 0.0) {
    return p;
  }
  if (p.count == 0.0) { // else delta² may overflow, and times 0 be NaN
    return q;
  }
  let count = p.count + q.count;
  let delta = q.mean - p.mean;
  let share = q.count / count;
  return Moments(
    count, p.mean + delta * share, p.deviations + q.deviations + delta * delta * p.count * share);
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
  let base = row * params.length;
  var moments = Moments();
  for (var j = thread; j < params.length; j += THREADS) {
    moments = merge(moments, Moments(1.0, x[base + j], 0.0));
  }
  shared_moments[thread] = moments;
  for (var half = THREADS / 2u; half > 0u; half >>= 1u) {
    workgroupBarrier();
    if (thread < half) {
      shared_moments[thread] = merge(shared_moments[thread], shared_moments[thread + half]);
    }
  }
  workgroupBarrier();
  let mean = shared_moments[0].mean;
  let variance = shared_moments[0].deviations / f32(params.length);
  let factor = 1.0 / sqrt(variance + params.eps);
  for (var j = thread; j < params.length; j += THREADS) {
    y[base + j] = (x[base + j] - mean) * factor * gamma[j] + beta[j];
  }
}
