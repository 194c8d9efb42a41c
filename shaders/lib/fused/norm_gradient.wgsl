// The gradients of a norm of rows (kernels/fused/norm_gradient.py). `lanes` neighbouring threads
// hold a row in registers, four values KEPT times each (lib/rows.wgsl). A workgroup takes every
// `groups`-th set of rows. With PARTS, it also adds up its rows: g · normalised x for the factors,
// and g for the summands. The result has PARTS rows for each workgroup.

var<workgroup> columns: array<vec4f, THREADS>;

// Writes the sum of a vec4 over the workgroup's rows.
fn write_sum(value: vec4f, to: u32, is_inside: bool, thread: u32) {
  workgroupBarrier();
  columns[thread] = value;
  workgroupBarrier();
  if (thread < params.lanes && is_inside) {
    var sum = value;
    for (var other = thread + params.lanes; other < THREADS; other += params.lanes) {
      sum += columns[other];
    }
    write_part(to, sum);
  }
}

fn norm_gradient(group: vec3u, thread: u32) {
  let lanes = params.lanes;
  let lane = thread & (lanes - 1u);
  let at_once = THREADS / lanes;
  let length = params.length / 4u;
  let share = 1.0 / f32(params.length);
  var of_weight: array<vec4f, KEPT>;
  var of_bias: array<vec4f, KEPT>;
  for (var first = group.x * at_once; first < params.rows; first += params.groups * at_once) {
    let row = first + thread / lanes;
    let base = row * length;
    let count = select(0u, length, row < params.rows);
    var x: array<vec4f, KEPT>;
    var g: array<vec4f, KEPT>;
    var own: array<vec4f, KEPT>;
    for (var k = 0u; k < KEPT; k++) {
      let j = lane + k * lanes;
      if (j < count) {
        let given = elements(base + j);
        x[k] = given.x;
        g[k] = given.g;
        own[k] = given.own;
      }
    }
    if (CENTRED) {
      // Differences from the first value, so that a large mean costs no digits.
      var pivot = 0.0;
      if (count > 0u) {
        pivot = elements(base).x.x;
      }
      var sum = vec4f();
      for (var k = 0u; k < KEPT; k++) {
        x[k] -= pivot;
        if (lane + k * lanes < count) {
          sum += x[k];
        }
      }
      let mean = sum_of_lanes(sum_of_four(sum), thread) * share;
      workgroupBarrier();
      for (var k = 0u; k < KEPT; k++) {
        x[k] -= mean;
      }
    }
    var squares = vec4f();
    for (var k = 0u; k < KEPT; k++) {
      if (lane + k * lanes < count) {
        squares += x[k] * x[k];
      }
    }
    let square = sum_of_lanes(sum_of_four(squares), thread) * share;
    workgroupBarrier();
    let scale = 1.0 / sqrt(square + bitcast<f32>(params.eps));
    var products = vec4f();
    var sum_of_own = vec4f();
    for (var k = 0u; k < KEPT; k++) {
      x[k] *= scale;
      if (lane + k * lanes < count) {
        products += own[k] * x[k];
        sum_of_own += own[k];
        of_weight[k] += g[k] * x[k];
        of_bias[k] += g[k];
      }
    }
    let along = sum_of_lanes(sum_of_four(products), thread) * share;
    workgroupBarrier();
    var mean_of_own = 0.0;
    if (CENTRED) {
      mean_of_own = sum_of_lanes(sum_of_four(sum_of_own), thread) * share;
      workgroupBarrier();
    }
    for (var k = 0u; k < KEPT; k++) {
      let j = lane + k * lanes;
      if (j < count) {
        write_gradient(base + j, (own[k] - mean_of_own - x[k] * along) * scale);
      }
    }
  }
  for (var k = 0u; k < KEPT; k++) {
    let j = lane + k * lanes;
    if (PARTS > 0u) {
      write_sum(of_weight[k], PARTS * group.x * length + j, j < length, thread);
    }
    if (PARTS > 1u) {
      write_sum(of_bias[k], (PARTS * group.x + 1u) * length + j, j < length, thread);
    }
  }
}
