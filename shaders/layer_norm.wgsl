// y[r, j] = (v[r, j] - mean of row r) / sqrt(variance of row r + eps) * gamma[j] + beta[j], where v
// is x, or x + residual, with the biased variance.
//
// Reads x once: `lanes` neighbouring threads of a workgroup hold a row in registers, four values
// HELD times each. They hold differences from the row's first value, so equal values have no
// deviation and large ones no overflowing sum. The mean comes first, then the deviations from it,
// so there is no cancellation for large means. main_aligned uses vec4s if length is divisible by 4,
// and main_halves does so for float16. main_sum and main_sum_aligned also write x + residual.
// main_long is for rows of any length, with moments from moments.wgsl: a workgroup merges them and
// writes a chunk of a row.

struct Params {
  rows: u32,
  length: u32,
  chunk: u32, // elements of a chunk; the last may be shorter
  chunks: u32,
  lanes: u32,    // a power of two, at most THREADS
  residual: u32, // 1: v is x + residual
  eps: f32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(0) var<storage, read> x_vectors: array<vec4f>;
@group(0) @binding(1) var<storage, read> residual: array<f32>;
@group(0) @binding(1) var<storage, read> residual_vectors: array<vec4f>;
@group(0) @binding(1) var<storage, read> moments: array<f32>; // count, pivot, mean, deviations
@group(0) @binding(2) var<storage, read> gamma: array<f32>;
@group(0) @binding(2) var<storage, read> gamma_vectors: array<vec4f>;
@group(0) @binding(3) var<storage, read> beta: array<f32>;
@group(0) @binding(3) var<storage, read> beta_vectors: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<storage, read_write> y_vectors: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> summed: array<f32>;
@group(0) @binding(5) var<storage, read_write> summed_vectors: array<vec4f>;
@group(0) @binding(0) var<storage, read> x_halves: array<vec2u>; // four each
@group(0) @binding(2) var<storage, read> gamma_halves: array<vec2u>;
@group(0) @binding(3) var<storage, read> beta_halves: array<vec2u>;
@group(0) @binding(4) var<storage, read_write> y_halves: array<vec2u>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/floats.wgsl
//#include lib/halves.wgsl
//#include lib/moments.wgsl
//#include lib/rows.wgsl

var<workgroup> partial_moments: array<Moments, THREADS>;

// The first element of a row in the k-th vec4 of a lane. Word by word, the other three follow
// `lanes` apart.
fn element(lane: u32, k: u32, aligned: bool) -> u32 {
  return select(lane + 4u * k * params.lanes, 4u * (lane + k * params.lanes), aligned);
}

fn is_inside(lane: u32, k: u32, aligned: bool) -> vec4<bool> {
  let first = element(lane, k, aligned);
  if (aligned) {
    return vec4<bool>(first < params.length);
  }
  return first + vec4u(0u, 1u, 2u, 3u) * params.lanes < vec4u(params.length);
}

// Subtracts the mean from a row's values, and sets missing ones to 0. Returns 1 / sqrt(variance +
// eps).
fn centre(
  held: ptr<function, array<vec4f, MOST>>, first: f32, lane: u32, thread: u32, aligned: bool,
) -> f32 {
  var sum = vec4f();
  for (var k = 0u; k < HELD; k++) {
    let value = select(vec4f(), less((*held)[k], vec4f(first)), is_inside(lane, k, aligned));
    (*held)[k] = value;
    sum += value;
  }
  let mean = sum_of_lanes(sum_of_four(sum), thread) / f32(params.length);
  workgroupBarrier();
  var deviations = vec4f();
  for (var k = 0u; k < HELD; k++) {
    let value = select(vec4f(), (*held)[k] - mean, is_inside(lane, k, aligned));
    (*held)[k] = value;
    deviations += value * value;
  }
  let variance = sum_of_lanes(sum_of_four(deviations), thread) / f32(params.length);
  workgroupBarrier();
  return 1.0 / sqrt(variance + params.eps);
}

// The four words of the k-th vec4 that are inside the row.
fn load(start: u32, inside: vec4<bool>) -> vec4f {
  var v = vec4f();
  if (inside.x) {
    v.x = x[start];
  }
  if (inside.y) {
    v.y = x[start + params.lanes];
  }
  if (inside.z) {
    v.z = x[start + 2u * params.lanes];
  }
  if (inside.w) {
    v.w = x[start + 3u * params.lanes];
  }
  return v;
}

fn load_residual(start: u32, inside: vec4<bool>) -> vec4f {
  var v = vec4f();
  if (inside.x) {
    v.x = residual[start];
  }
  if (inside.y) {
    v.y = residual[start + params.lanes];
  }
  if (inside.z) {
    v.z = residual[start + 2u * params.lanes];
  }
  if (inside.w) {
    v.w = residual[start + 3u * params.lanes];
  }
  return v;
}

// Fills `held` and returns the row's first value.
fn load_row(held: ptr<function, array<vec4f, MOST>>, own: Place) -> f32 {
  if (own.row >= params.rows) {
    return 0.0;
  }
  let base = own.row * params.length;
  var first = x[base];
  for (var k = 0u; k < HELD; k++) {
    (*held)[k] = load(base + element(own.lane, k, false), is_inside(own.lane, k, false));
  }
  if (params.residual != 0u) {
    first += residual[base];
    for (var k = 0u; k < HELD; k++) {
      (*held)[k] += load_residual(base + element(own.lane, k, false), is_inside(own.lane, k, false));
    }
  }
  return first;
}

fn store_row(held: ptr<function, array<vec4f, MOST>>, own: Place, factor: f32) {
  if (own.row >= params.rows) {
    return;
  }
  let base = own.row * params.length;
  for (var k = 0u; k < HELD; k++) {
    let v = (*held)[k] * factor;
    let start = element(own.lane, k, false);
    for (var part = 0u; part < 4u; part++) {
      let j = start + part * params.lanes;
      if (j < params.length) {
        y[base + j] = v[part] * gamma[j] + beta[j];
      }
    }
  }
}

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let own = place(group, groups, thread);
  var held: array<vec4f, MOST>;
  let first = load_row(&held, own);
  let factor = centre(&held, first, own.lane, thread, false);
  store_row(&held, own, factor);
}

@compute @workgroup_size(THREADS)
fn main_sum(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let own = place(group, groups, thread);
  var held: array<vec4f, MOST>;
  let first = load_row(&held, own);
  if (own.row < params.rows) {
    for (var k = 0u; k < HELD; k++) {
      for (var part = 0u; part < 4u; part++) {
        let j = element(own.lane, k, false) + part * params.lanes;
        if (j < params.length) {
          summed[own.row * params.length + j] = held[k][part];
        }
      }
    }
  }
  let factor = centre(&held, first, own.lane, thread, false);
  store_row(&held, own, factor);
}

// vec4s of a row, 0 for a missing row.
fn vectors(own: Place) -> u32 {
  return select(0u, params.length / 4u, own.row < params.rows);
}

fn load_vectors(held: ptr<function, array<vec4f, MOST>>, own: Place) -> f32 {
  if (own.row >= params.rows) {
    return 0.0;
  }
  let length = params.length / 4u;
  let base = own.row * length;
  var first = x_vectors[base].x;
  for (var k = 0u; k < HELD; k++) {
    let j = own.lane + k * params.lanes;
    if (j < length) {
      (*held)[k] = x_vectors[base + j];
    }
  }
  if (params.residual != 0u) {
    first += residual_vectors[base].x;
    for (var k = 0u; k < HELD; k++) {
      let j = own.lane + k * params.lanes;
      if (j < length) {
        (*held)[k] += residual_vectors[base + j];
      }
    }
  }
  return first;
}

fn store_vectors(held: ptr<function, array<vec4f, MOST>>, own: Place, factor: f32) {
  let base = own.row * vectors(own);
  for (var k = 0u; k < HELD; k++) {
    let j = own.lane + k * params.lanes;
    if (j < vectors(own)) {
      y_vectors[base + j] = (*held)[k] * factor * gamma_vectors[j] + beta_vectors[j];
    }
  }
}

@compute @workgroup_size(THREADS)
fn main_aligned(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let own = place(group, groups, thread);
  var held: array<vec4f, MOST>;
  let first = load_vectors(&held, own);
  let factor = centre(&held, first, own.lane, thread, true);
  store_vectors(&held, own, factor);
}

@compute @workgroup_size(THREADS)
fn main_halves(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let own = place(group, groups, thread);
  let count = vectors(own);
  let base = own.row * count;
  var held: array<vec4f, MOST>;
  var first = 0.0;
  if (count > 0u) {
    first = widened(x_halves[base]).x;
  }
  for (var k = 0u; k < HELD; k++) {
    let j = own.lane + k * params.lanes;
    if (j < count) {
      held[k] = widened(x_halves[base + j]);
    }
  }
  let factor = centre(&held, first, own.lane, thread, true);
  for (var k = 0u; k < HELD; k++) {
    let j = own.lane + k * params.lanes;
    if (j < count) {
      let v = held[k] * factor * widened(gamma_halves[j]) + widened(beta_halves[j]);
      y_halves[base + j] = narrowed(v);
    }
  }
}

@compute @workgroup_size(THREADS)
fn main_sum_aligned(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let own = place(group, groups, thread);
  var held: array<vec4f, MOST>;
  let first = load_vectors(&held, own);
  for (var k = 0u; k < HELD; k++) {
    let j = own.lane + k * params.lanes;
    if (j < vectors(own)) {
      summed_vectors[own.row * vectors(own) + j] = held[k];
    }
  }
  let factor = centre(&held, first, own.lane, thread, true);
  store_vectors(&held, own, factor);
}

@compute @workgroup_size(THREADS)
fn main_long(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let which = group.y * groups.x + group.x; // row × chunks + chunk
  if (which >= params.rows * params.chunks) {
    return;
  }
  let row = which / params.chunks;
  var found = Moments();
  for (var chunk = thread; chunk < params.chunks; chunk += THREADS) {
    let at = 4u * (row * params.chunks + chunk);
    found = merge(found, Moments(moments[at], moments[at + 2u], moments[at + 3u]));
  }
  partial_moments[thread] = found;
  for (var half = THREADS / 2u; half > 0u; half >>= 1u) {
    workgroupBarrier();
    if (thread < half) {
      partial_moments[thread] = merge(partial_moments[thread], partial_moments[thread + half]);
    }
  }
  workgroupBarrier();
  let pivot = moments[4u * row * params.chunks + 1u];
  let mean = partial_moments[0].mean;
  let variance = partial_moments[0].deviations / f32(params.length);
  let factor = 1.0 / sqrt(variance + params.eps);
  let start = which % params.chunks * params.chunk;
  let end = min(start + params.chunk, params.length);
  let base = row * params.length;
  var j = start + thread;
  for (; j + 3u * THREADS < end; j += 4u * THREADS) {
    let at = vec4u(j, j + THREADS, j + 2u * THREADS, j + 3u * THREADS);
    let i = base + at;
    let v = (less(vec4f(x[i.x], x[i.y], x[i.z], x[i.w]), vec4f(pivot)) - mean) * factor;
    y[i.x] = v.x * gamma[at.x] + beta[at.x];
    y[i.y] = v.y * gamma[at.y] + beta[at.y];
    y[i.z] = v.z * gamma[at.z] + beta[at.z];
    y[i.w] = v.w * gamma[at.w] + beta[at.w];
  }
  for (; j < end; j += THREADS) {
    y[base + j] = (less(vec4f(x[base + j]), vec4f(pivot)).x - mean) * factor * gamma[j] + beta[j];
  }
}
