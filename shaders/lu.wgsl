// Gaussian elimination with partial pivoting, a block of columns at a time, and its uses. Matrices
// a are [n, columns] with columns >= n; the columns to the right of the square part are eliminated
// too. main_panel processes the columns from `first` to `end`, and main_rows the block's rows in
// the columns after it. matrix_update.wgsl does the rest. A column of zeros is not divided: the
// determinant is 0, and solutions are infinite or NaN.

struct Params {
  matrices: u32,
  n: u32,
  columns: u32,
  first: u32,
  end: u32,
  left: u32, // main_rows and main_back: the first column that they change
  whole: u32, // main_determinant: 1 for determinants, 0 for signs and logarithms
}

@group(0) @binding(0) var<storage, read_write> a: array<Number>;
// For each matrix, the row that each row was exchanged with, and the number of actual exchanges.
@group(0) @binding(1) var<storage, read_write> exchanges: array<u32>;
@group(0) @binding(2) var<storage, read_write> signs: array<Number>;
@group(0) @binding(3) var<storage, read_write> logarithms: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/math/logarithms.wgsl
//#include lib/numbers.wgsl
//#include lib/powers_of_two.wgsl

const THREADS = 256u;

var<workgroup> sizes: array<f32, THREADS>;
var<workgroup> places: array<u32, THREADS>;
var<workgroup> pivot: u32;

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
  let n = params.n;
  let columns = params.columns;
  let begin = matrix * n * columns;
  let noted = matrix * (n + 1u);
  var count = 0u; // of thread 0
  if (params.first > 0u) {
    count = exchanges[noted + n];
  }
  for (var k = params.first; k < params.end; k++) {
    var size = -1.0;
    var place = k;
    for (var i = k + thread; i < n; i += THREADS) {
      let own = largest_part(a[begin + i * columns + k]);
      if (own > size) {
        size = own;
        place = i;
      }
    }
    sizes[thread] = size;
    places[thread] = place;
    for (var half = THREADS / 2u; half > 0u; half /= 2u) {
      workgroupBarrier();
      if (thread < half) {
        let other = sizes[thread + half];
        let is_first = places[thread + half] < places[thread];
        if (other > sizes[thread] || (other == sizes[thread] && is_first)) {
          sizes[thread] = other;
          places[thread] = places[thread + half];
        }
      }
    }
    if (thread == 0u) {
      pivot = places[0];
      exchanges[noted + k] = pivot;
      count += select(0u, 1u, pivot != k);
    }
    let other = workgroupUniformLoad(&pivot);
    if (other != k) {
      for (var j = params.first + thread; j < params.end; j += THREADS) {
        let here = begin + k * columns + j;
        let there = begin + other * columns + j;
        let value = a[here];
        a[here] = a[there];
        a[there] = value;
      }
    }
    storageBarrier();
    let divisor = a[begin + k * columns + k];
    if (largest_part(divisor) != 0.0) {
      for (var i = k + 1u + thread; i < n; i += THREADS) {
        let at = begin + i * columns + k;
        a[at] = quotient(a[at], divisor);
      }
    }
    storageBarrier();
    let width = params.end - k - 1u;
    for (var at = thread; at < width * (n - k - 1u); at += THREADS) {
      let row = begin + (k + 1u + at / width) * columns;
      let j = k + 1u + at % width;
      a[row + j] -= times(a[row + k], a[begin + k * columns + j]);
    }
    storageBarrier();
  }
  if (thread == 0u) {
    exchanges[noted + n] = count;
  }
}

// A thread's column of a matrix, from `left` on, and whether there is one.
struct Column {
  is_there: bool,
  matrix: u32,
  begin: u32, // of the matrix
  j: u32,
}

fn column_of(group: vec3u, groups: vec3u, thread: u32) -> Column {
  let which = (group.y * groups.x + group.x) * THREADS + thread;
  let width = params.columns - params.left;
  let matrix = which / width;
  return Column(
    matrix < params.matrices, matrix, matrix * params.n * params.columns,
    params.left + which % width);
}

@compute @workgroup_size(THREADS)
fn main_rows(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let own = column_of(group, groups, thread);
  if (!own.is_there) {
    return;
  }
  let columns = params.columns;
  for (var k = params.first; k < params.end; k++) {
    let other = exchanges[own.matrix * (params.n + 1u) + k];
    let value = a[own.begin + k * columns + own.j];
    a[own.begin + k * columns + own.j] = a[own.begin + other * columns + own.j];
    a[own.begin + other * columns + own.j] = value;
  }
  for (var k = params.first; k < params.end; k++) {
    let value = a[own.begin + k * columns + own.j];
    for (var i = k + 1u; i < params.end; i++) {
      let row = own.begin + i * columns;
      a[row + own.j] -= times(a[row + k], value);
    }
  }
}

// In the columns from `left` on, replaces the block's rows by the solution x of U x = these rows,
// where U is the upper triangle of the block on the diagonal.
@compute @workgroup_size(THREADS)
fn main_back(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let own = column_of(group, groups, thread);
  if (!own.is_there) {
    return;
  }
  let columns = params.columns;
  for (var k = params.end; k > params.first; k--) {
    let row = own.begin + (k - 1u) * columns;
    let value = quotient(a[row + own.j], a[row + k - 1u]);
    a[row + own.j] = value;
    for (var i = params.first; i < k - 1u; i++) {
      let above = own.begin + i * columns;
      a[above + own.j] -= times(a[above + k - 1u], value);
    }
  }
}

// Products of the diagonals. Powers of two are counted separately, so that no product leaves
// float32's range.
@compute @workgroup_size(THREADS)
fn main_determinant(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let matrix = (group.y * groups.x + group.x) * THREADS + thread;
  if (matrix >= params.matrices) {
    return;
  }
  let n = params.n;
  let is_odd = (exchanges[matrix * (n + 1u) + n] & 1u) != 0u;
  var product = number(select(1.0, -1.0, is_odd));
  var exponent = 0;
  for (var k = 0u; k < n; k++) {
    let factor = a[(matrix * n + k) * params.columns + k];
    let own = binary_exponent(largest_part(factor));
    product = times(product, factor * power_of_two(-own));
    let more = binary_exponent(largest_part(product));
    product = product * power_of_two(-more);
    exponent += own + more;
  }
  let size = sqrt(square(product));
  if (params.whole != 0u) {
    let half = clamp(exponent, -250, 250) / 2;
    let rest = clamp(exponent, -250, 250) - half;
    signs[matrix] = product * power_of_two(half) * power_of_two(rest);
  } else {
    signs[matrix] = product / select(size, 1.0, size == 0.0);
    let logarithm = log_times(vec4f(size), vec4f(f32(exponent)));
    logarithms[matrix] = log_or_special(vec4f(size), logarithm).x;
  }
}
