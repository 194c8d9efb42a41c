// loss[r] = log(sum over j of exp(x[r, j])) - x[r, target[r]], and probs[r, j] = softmax(x[r])[j].
//
// Reads x once: `lanes` neighbouring threads of a workgroup hold a row in registers, four values
// HELD times each, and combine in trees. main_aligned does the same with vec4s if classes is
// divisible by 4. main_losses, main_losses_aligned and main_losses_halves, which reads float16,
// write no probs. main_long and main_long_halves use the maxima and sums of chunks from
// softmax.wgsl, with one workgroup per row. The loss comes from maximum and sum, so it is stable
// even if a probability rounds to 0. A target outside the classes gives NaN. sums[r] is the largest
// x and the logarithm of the sum of exp(x - largest).

struct Params {
  rows: u32,
  classes: u32,
  chunks: u32,
  lanes: u32, // a power of two, at most THREADS
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(0) var<storage, read> x_halves: array<u32>; // two each
@group(0) @binding(1) var<storage, read> targets: array<i32>;
@group(0) @binding(2) var<storage, read> parts: array<vec2f>;
@group(0) @binding(3) var<storage, read_write> loss: array<f32>;
@group(0) @binding(4) var<storage, read_write> probs: array<f32>;
@group(0) @binding(4) var<storage, read_write> probs_vectors: array<vec4f>;
@group(0) @binding(5) var<storage, read> x_vectors: array<vec4f>; // x once more
@group(0) @binding(6) var<storage, read_write> sums: array<vec2f>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/halves.wgsl
//#include lib/running_softmax.wgsl

fn load(row: u32, j: u32) -> f32 {
  if (row < params.rows && j < params.classes) {
    return x[row * params.classes + j];
  }
  return minus_infinity();
}

fn load_half(row: u32, j: u32) -> f32 {
  if (row < params.rows && j < params.classes) {
    let i = row * params.classes + j;
    return half_of(x_halves[i / 2u], i);
  }
  return minus_infinity();
}

// The element of x at the row's target, or at another class if the target is none.
fn goal_element(row: u32) -> u32 {
  return row * params.classes + min(u32(targets[row]), params.classes - 1u);
}

fn goal_half(row: u32) -> f32 {
  let i = goal_element(row);
  return half_of(x_halves[i / 2u], i);
}

// `logit` is the element of x at the target.
fn store_loss(row: u32, running: Running, logit: f32) {
  let goal = targets[row];
  let is_known = !is_undefined(running);
  let own = select(vec2f(quiet_nan()), vec2f(running.largest, log(running.sum)), is_known);
  var value = quiet_nan();
  if (goal >= 0 && u32(goal) < params.classes && is_known) {
    value = own.y + (own.x - logit);
  }
  loss[row] = value;
  sums[row] = own;
}

// Holds exp(x - largest) of a row.
fn hold(held: ptr<function, array<vec4f, MOST>>, own: Place, thread: u32) -> Running {
  let step = params.lanes;
  for (var k = 0u; k < HELD; k++) {
    let j = own.lane + 4u * k * step;
    (*held)[k] = vec4f(
      load(own.row, j), load(own.row, j + step), load(own.row, j + 2u * step),
      load(own.row, j + 3u * step));
  }
  return weigh(held, thread);
}

fn hold_halves(held: ptr<function, array<vec4f, MOST>>, own: Place, thread: u32) -> Running {
  let step = params.lanes;
  for (var k = 0u; k < HELD; k++) {
    let j = own.lane + 4u * k * step;
    (*held)[k] = vec4f(
      load_half(own.row, j), load_half(own.row, j + step), load_half(own.row, j + 2u * step),
      load_half(own.row, j + 3u * step));
  }
  return weigh(held, thread);
}

// The vec4s of a row.
fn vectors(own: Place) -> u32 {
  return select(0u, params.classes / 4u, own.row < params.rows);
}

fn hold_vectors(held: ptr<function, array<vec4f, MOST>>, own: Place, thread: u32) -> Running {
  let length = vectors(own);
  let base = own.row * length;
  for (var k = 0u; k < HELD; k++) {
    let j = own.lane + k * params.lanes;
    (*held)[k] = vec4f(minus_infinity());
    if (j < length) {
      (*held)[k] = x_vectors[base + j];
    }
  }
  return weigh(held, thread);
}

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let own = place(group, groups, thread);
  var held: array<vec4f, MOST>;
  let running = hold(&held, own, thread);
  if (own.row >= params.rows) {
    return;
  }
  let scale = factor(running);
  let base = own.row * params.classes;
  for (var k = 0u; k < HELD; k++) {
    for (var part = 0u; part < 4u; part++) {
      let j = own.lane + (4u * k + part) * params.lanes;
      if (j < params.classes) {
        probs[base + j] = held[k][part] * scale;
      }
    }
  }
  if (own.lane == 0u) {
    store_loss(own.row, running, x[goal_element(own.row)]);
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
  let running = hold_vectors(&held, own, thread);
  let scale = factor(running);
  let length = vectors(own);
  for (var k = 0u; k < HELD; k++) {
    let j = own.lane + k * params.lanes;
    if (j < length) {
      probs_vectors[own.row * length + j] = held[k] * scale;
    }
  }
  if (own.lane == 0u && own.row < params.rows) {
    store_loss(own.row, running, x[goal_element(own.row)]);
  }
}

@compute @workgroup_size(THREADS)
fn main_losses(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let own = place(group, groups, thread);
  var held: array<vec4f, MOST>;
  let running = hold(&held, own, thread);
  if (own.lane == 0u && own.row < params.rows) {
    store_loss(own.row, running, x[goal_element(own.row)]);
  }
}

@compute @workgroup_size(THREADS)
fn main_losses_aligned(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let own = place(group, groups, thread);
  var held: array<vec4f, MOST>;
  let running = hold_vectors(&held, own, thread);
  if (own.lane == 0u && own.row < params.rows) {
    store_loss(own.row, running, x[goal_element(own.row)]);
  }
}

@compute @workgroup_size(THREADS)
fn main_losses_halves(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let own = place(group, groups, thread);
  var held: array<vec4f, MOST>;
  let running = hold_halves(&held, own, thread);
  if (own.lane == 0u && own.row < params.rows) {
    store_loss(own.row, running, goal_half(own.row));
  }
}

// Merges a row's chunks. Thread 0 gets the result.
fn merge_parts(row: u32, thread: u32) -> Running {
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
  return running;
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
  let running = merge_parts(row, thread);
  if (thread == 0u) {
    store_loss(row, running, x[goal_element(row)]);
  }
}

@compute @workgroup_size(THREADS)
fn main_long_halves(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let row = group.y * groups.x + group.x;
  if (row >= params.rows) {
    return;
  }
  let running = merge_parts(row, thread);
  if (thread == 0u) {
    store_loss(row, running, goal_half(row));
  }
}
