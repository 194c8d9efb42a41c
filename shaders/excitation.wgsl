// y = gate(w2 · relu(w1 · x + b1) + b2) for each vector of x: the excitation of squeeze-and-excite.
//
// Each workgroup computes the hidden values of a vector, and FILTERS of its results. `gate` is the
// logistic function, or alpha v + beta limited to the range from 0 to 1. NaN stays NaN.

struct Params {
  vectors: u32, // vec4s of a vector of x
  hidden: u32,  // at most MOST_HIDDEN
  filters: u32,
  biases: u32, // bit 0: b1 exists, bit 1: b2 exists
  is_hard: u32,
  alpha: f32,
  beta: f32,
}

@group(0) @binding(0) var<storage, read> x: array<vec4f>;
@group(0) @binding(1) var<storage, read> w1: array<vec4f>;
@group(0) @binding(2) var<storage, read> b1: array<f32>;
@group(0) @binding(3) var<storage, read> w2: array<f32>;
@group(0) @binding(4) var<storage, read> b2: array<f32>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/floats.wgsl

const THREADS = 256u;
const MOST_VECTORS = 256u;
const MOST_HIDDEN = 128u;
const LANES = 16u; // threads that add up a hidden value
const FILTERS = 64u;
const PARTS = THREADS / FILTERS; // threads that add up a result

var<workgroup> given: array<vec4f, MOST_VECTORS>;
var<workgroup> shares: array<f32, MOST_HIDDEN * LANES>;
var<workgroup> between: array<f32, MOST_HIDDEN>;

fn gate(v: f32) -> f32 {
  if (is_nan(v)) {
    return v;
  }
  if (params.is_hard != 0u) {
    return clamp(v * params.alpha + params.beta, 0.0, 1.0);
  }
  return 1.0 / (1.0 + exp(-v));
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  for (var i = thread; i < params.vectors; i += THREADS) {
    given[i] = x[group.y * params.vectors + i];
  }
  workgroupBarrier();
  let lane = thread % LANES;
  for (var row = thread / LANES; row < params.hidden; row += THREADS / LANES) {
    var sum = vec4f();
    for (var i = lane; i < params.vectors; i += LANES) {
      sum += w1[row * params.vectors + i] * given[i];
    }
    shares[row * LANES + lane] = sum.x + sum.y + sum.z + sum.w;
  }
  workgroupBarrier();
  if (thread < params.hidden) {
    var sum = 0.0;
    for (var i = 0u; i < LANES; i++) {
      sum += shares[thread * LANES + i];
    }
    if ((params.biases & 1u) != 0u) {
      sum += b1[thread];
    }
    between[thread] = select(max(sum, 0.0), sum, is_nan(sum));
  }
  workgroupBarrier();
  let place = group.x * FILTERS + thread / PARTS;
  var part = 0.0;
  if (place < params.filters) {
    for (var i = thread % PARTS; i < params.hidden; i += PARTS) {
      part += w2[place * params.hidden + i] * between[i];
    }
  }
  shares[thread] = part;
  workgroupBarrier();
  let own = group.x * FILTERS + thread;
  if (thread < FILTERS && own < params.filters) {
    var sum = 0.0;
    for (var i = 0u; i < PARTS; i++) {
      sum += shares[thread * PARTS + i];
    }
    if ((params.biases & 2u) != 0u) {
      sum += b2[own];
    }
    y[group.y * params.filters + own] = gate(sum);
  }
}
