// Householder's QR factorization, a block of columns at a time, like LAPACK's geqrf. Matrices a
// [rows, columns] become R on and above the diagonal. Below it, column k has the vector v of the
// reflection H = I - factor v v^H, where v[k] = 1 is not stored. main_panel factors the columns
// from `first` to `end`, and main_apply updates other columns.

struct Params {
  matrices: u32,
  rows: u32,
  columns: u32,
  first: u32,
  end: u32,
  left: u32, // main_apply: the first column that it changes; main_signs: the first column of Q
  right: u32, // main_apply: the end of the columns that it changes
  reflections: u32, // per matrix: the factored part's rows or columns, whichever are fewer
  backwards: u32, // main_apply: 0 for H^H, from first to last, 1 for H, from last to first
}

@group(0) @binding(0) var<storage, read_write> a: array<Number>;
@group(0) @binding(1) var<storage, read_write> factors: array<Number>; // of each reflection
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/numbers.wgsl

const THREADS = 256u;
const LANES = 16u; // columns that a workgroup changes at once, and threads per column

var<workgroup> sizes: array<f32, THREADS>;
var<workgroup> sums: array<Number, THREADS>;
var<workgroup> total: f32;

// Subtracts factor v (v^H column) from LANES columns from `left` on, before `right`, where v is the
// vector of column k.
fn reflect(begin: u32, k: u32, factor: Number, left: u32, right: u32, thread: u32) {
  let columns = params.columns;
  let lane = thread % LANES;
  let j = left + lane;
  let start = k + 1u + thread / LANES;
  var sum = number(0.0);
  if (j < right) {
    if (thread < LANES) {
      sum = a[begin + k * columns + j];
    }
    for (var i = start; i < params.rows; i += THREADS / LANES) {
      let row = begin + i * columns;
      sum += times(conjugate(a[row + k]), a[row + j]);
    }
  }
  sums[thread] = sum;
  for (var half = THREADS / 2u; half >= LANES; half /= 2u) {
    workgroupBarrier();
    if (thread < half) {
      sums[thread] += sums[thread + half];
    }
  }
  workgroupBarrier();
  if (j < right) {
    let share = times(factor, sums[lane]);
    if (thread < LANES) {
      a[begin + k * columns + j] -= share;
    }
    for (var i = start; i < params.rows; i += THREADS / LANES) {
      let row = begin + i * columns;
      a[row + j] -= times(a[row + k], share);
    }
  }
  storageBarrier();
  workgroupBarrier();
}

@compute @workgroup_size(THREADS)
fn main_panel(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let matrix = group.y * groups.x + group.x;
  if (matrix >= params.matrices) {
    return;
  }
  let columns = params.columns;
  let begin = matrix * params.rows * columns;
  for (var k = params.first; k < params.end; k++) {
    var size = 0.0;
    for (var i = k + 1u + thread; i < params.rows; i += THREADS) {
      size += square(a[begin + i * columns + k]);
    }
    sizes[thread] = size;
    for (var half = THREADS / 2u; half > 0u; half /= 2u) {
      workgroupBarrier();
      if (thread < half) {
        sizes[thread] += sizes[thread + half];
      }
    }
    let head = a[begin + k * columns + k];
    storageBarrier(); // all threads have read the column before it changes
    if (thread == 0u) {
      total = sizes[0];
    }
    let below = workgroupUniformLoad(&total);
    var factor = number(0.0);
    if (below != 0.0 || imaginary_part(head) != 0.0) {
      let length = sqrt(square(head) + below);
      let found = select(length, -length, real_part(head) >= 0.0);
      factor = (number(found) - head) / found;
      let divisor = head - number(found);
      for (var i = k + 1u + thread; i < params.rows; i += THREADS) {
        a[begin + i * columns + k] = quotient(a[begin + i * columns + k], divisor);
      }
      if (thread == 0u) {
        a[begin + k * columns + k] = number(found);
      }
    }
    if (thread == 0u) {
      factors[matrix * params.reflections + k] = factor;
    }
    storageBarrier();
    reflect(begin, k, conjugate(factor), k + 1u, params.end, thread);
  }
}

@compute @workgroup_size(THREADS)
fn main_apply(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let blocks = (params.right - params.left + LANES - 1u) / LANES;
  let which = group.y * groups.x + group.x;
  let matrix = which / blocks;
  if (matrix >= params.matrices) {
    return;
  }
  let begin = matrix * params.rows * params.columns;
  let left = params.left + which % blocks * LANES;
  for (var n = params.first; n < params.end; n++) {
    var k = n;
    if (params.backwards != 0u) {
      k = params.first + params.end - 1u - n;
    }
    var factor = factors[matrix * params.reflections + k];
    if (params.backwards == 0u) {
      factor = conjugate(factor);
    }
    reflect(begin, k, factor, left, params.right, thread);
  }
}

// Sets the diagonal of Q, still the identity from column `left` on, to the signs of R's diagonal.
// The result is the Q whose R has no negative number on the diagonal.
@compute @workgroup_size(THREADS)
fn main_signs(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let at = (group.y * groups.x + group.x) * THREADS + thread;
  if (at >= params.matrices * params.reflections) {
    return;
  }
  let k = at % params.reflections;
  let row = (at / params.reflections * params.rows + k) * params.columns;
  if (real_part(a[row + k]) < 0.0) {
    a[row + params.left + k] = number(-1.0);
  }
}
