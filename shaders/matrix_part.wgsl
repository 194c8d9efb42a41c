// Copies matrices into parts of wider matrices [rows, columns], and back. A part has `width`
// columns from `first` on.

struct Params {
  matrices: u32,
  rows: u32,
  columns: u32,
  first: u32,
  width: u32,
  height: u32, // rows of the part, from the first on
  way: u32, // how x is read: bits 1 transposed, 2 conjugated, 4 lower, 8 upper triangle, 16 scaled
}

@group(0) @binding(0) var<storage, read> x: array<Number>;
@group(0) @binding(1) var<storage, read> scales: array<f32>; // of each matrix; read where scaled
@group(0) @binding(2) var<storage, read_write> y: array<Number>;
@group(0) @binding(3) var<storage, read_write> found: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/numbers.wgsl
//#include lib/powers_of_two.wgsl

const THREADS = 256u;

var<workgroup> parts: array<f32, THREADS>;

fn has(bit: u32) -> bool {
  return (params.way & bit) != 0u;
}

// Writes x [height, width], or transposed x [width, height], to y's part, divided by its scale.
// With the lower bit, only x's lower triangle is read and x counts as Hermitian.
@compute @workgroup_size(THREADS)
fn main_copy(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let at = (group.y * groups.x + group.x) * THREADS + thread;
  let row = at / params.width;
  let matrix = row / params.height;
  if (matrix >= params.matrices) {
    return;
  }
  let i = row % params.height;
  let j = at % params.width;
  var from_row = i;
  var from_column = j;
  var length = params.width;
  var is_conjugate = has(2u);
  if (has(1u)) {
    from_row = j;
    from_column = i;
    length = params.height;
  }
  if (has(4u) && i < j) {
    from_row = j;
    from_column = i;
    is_conjugate = !is_conjugate;
  }
  var value = x[matrix * params.height * params.width + from_row * length + from_column];
  if (is_conjugate) {
    value = conjugate(value);
  }
  if (has(4u) && i == j) {
    value = number(real_part(value));
  }
  if (has(16u)) {
    value = value / scales[matrix];
  }
  y[(matrix * params.rows + i) * params.columns + params.first + j] = value;
}

// y = a part of x, [height, width], times its scale, or one of its triangles with zeros elsewhere.
// If transposed, y is [width, height].
@compute @workgroup_size(THREADS)
fn main_take(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let at = (group.y * groups.x + group.x) * THREADS + thread;
  let size = params.height * params.width;
  let matrix = at / size;
  if (matrix >= params.matrices) {
    return;
  }
  let is_transposed = has(1u);
  let length = select(params.width, params.height, is_transposed); // of a row of y
  let one = at % size / length;
  let other = at % length;
  let i = select(one, other, is_transposed);
  let j = select(other, one, is_transposed);
  var value = number(0.0);
  if (!(has(4u) && i < j) && !(has(8u) && i > j)) {
    value = x[(matrix * params.rows + i) * params.columns + params.first + j];
  }
  if (has(2u)) {
    value = conjugate(value);
  }
  if (has(16u)) {
    value = value * scales[matrix];
  }
  y[at] = value;
}

// y's part, with all rows, = 1 on the diagonal, 0 elsewhere.
@compute @workgroup_size(THREADS)
fn main_identity(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let at = (group.y * groups.x + group.x) * THREADS + thread;
  let row = at / params.width;
  if (row >= params.matrices * params.rows) {
    return;
  }
  let j = at % params.width;
  y[row * params.columns + params.first + j] = number(select(0.0, 1.0, row % params.rows == j));
}

// found = for each matrix x [rows, columns], a power of two near its largest absolute value, or 1
// if all are 0. Squares of numbers divided by it are within float32's range.
@compute @workgroup_size(THREADS)
fn main_scales(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let matrix = group.y * groups.x + group.x;
  if (matrix >= params.matrices) {
    return;
  }
  let size = params.rows * params.columns;
  var largest = 0.0;
  for (var at = thread; at < size; at += THREADS) {
    largest = max(largest, largest_part(x[matrix * size + at]));
  }
  parts[thread] = largest;
  for (var half = THREADS / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (thread < half) {
      parts[thread] = max(parts[thread], parts[thread + half]);
    }
  }
  if (thread == 0u) {
    let all = parts[0];
    found[matrix] = select(power_of_two(binary_exponent(all)), 1.0, all == 0.0);
  }
}
