// Eigenvalues of Hermitian matrices by Jacobi's method: pairs of rows and columns are rotated until
// the elements off the diagonal are negligible. The matrix is the first n columns of w [n,
// columns]. The columns after it are rotated like its rows, so an identity becomes the conjugated
// eigenvectors, as rows. Elements should be at most about 1.
//
// A round rotates disjoint pairs of rows, and then the same columns. One workgroup does all rounds
// and sweeps of a matrix; turn_blocks.wgsl is for large matrices. The last sweep is the one without
// a rotation.

struct Params {
  matrices: u32,
  n: u32,
  columns: u32,
  sweeps: u32, // maximum
  lanes: u32, // threads per pair of rows: a power of two, at most THREADS
}

@group(0) @binding(0) var<storage, read_write> w: array<Number>;
// For each matrix and sweep, whether anything was rotated; initially zeros.
@group(0) @binding(1) var<storage, read_write> turned: array<atomic<u32>>;
@group(0) @binding(2) var<storage, read_write> rotations: array<Number>; // two of each pair
@group(0) @binding(3) var<storage, read> scales: array<f32>;
@group(0) @binding(4) var<storage, read_write> values: array<f32>;
@group(0) @binding(5) var<storage, read_write> vectors: array<Number>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/numbers.wgsl
//#include lib/rotations.wgsl

const THREADS = 256u;
const NEAR = 6e-8; // negligible relative to the diagonal, and to 1

var<workgroup> counts: array<vec2f, THREADS>;
var<workgroup> is_busy: u32;

fn turn_rows(matrix: u32, round: u32, sweep: u32, first: u32, thread: u32) {
  let lane = thread % params.lanes;
  let pairs = pairs_of(params.n);
  let k = first + thread / params.lanes;
  let pair = pair_of(params.n, round, k);
  let is_there = k < pairs && pair.y < params.n;
  let p = (matrix * params.n + pair.x) * params.columns;
  let q = (matrix * params.n + pair.y) * params.columns;
  var rotation = Rotation(number(0.0), number(0.0));
  var is_turned = false;
  if (is_there) {
    let a = real_part(w[p + pair.x]);
    let b = real_part(w[q + pair.y]);
    let product = w[p + pair.y];
    is_turned = !(sqrt(square(product)) <= NEAR * (abs(a) + abs(b) + 1.0));
    if (is_turned) {
      rotation = rotation_of(a, b, product);
    }
  }
  storageBarrier(); // all threads have read the elements before they change
  if (is_turned) {
    // The adjoint matrix, which is on the left.
    let left = Rotation(conjugate(rotation.s), conjugate(rotation.t));
    for (var i = lane; i < params.columns; i += params.lanes) {
      let one = w[p + i];
      let other = w[q + i];
      w[p + i] = first_of(left, one, other);
      w[q + i] = second_of(left, one, other);
    }
  }
  if (lane == 0u && k < pairs) {
    rotations[2u * (matrix * pairs + k)] = rotation.s;
    rotations[2u * (matrix * pairs + k) + 1u] = rotation.t;
    if (is_turned) {
      atomicStore(&turned[sweep * params.matrices + matrix], 1u);
    }
  }
}

fn turn_columns(matrix: u32, round: u32, at: u32) {
  let pairs = pairs_of(params.n);
  let k = at % pairs;
  let row = (matrix * params.n + at / pairs) * params.columns;
  let pair = pair_of(params.n, round, k);
  let rotation = Rotation(
    rotations[2u * (matrix * pairs + k)], rotations[2u * (matrix * pairs + k) + 1u]);
  if (pair.y < params.n && largest_part(rotation.s) != 0.0) {
    let one = w[row + pair.x];
    let other = w[row + pair.y];
    w[row + pair.x] = first_of(rotation, one, other);
    w[row + pair.y] = second_of(rotation, one, other);
  }
}

@compute @workgroup_size(THREADS)
fn main_turn(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let matrix = group.y * groups.x + group.x;
  if (matrix >= params.matrices) {
    return;
  }
  let pairs = pairs_of(params.n);
  let together = THREADS / params.lanes;
  for (var sweep = 0u; sweep < params.sweeps; sweep++) {
    if (thread == 0u) {
      is_busy = 1u;
      if (sweep > 0u) {
        is_busy = atomicLoad(&turned[(sweep - 1u) * params.matrices + matrix]);
      }
    }
    if (workgroupUniformLoad(&is_busy) == 0u) {
      return;
    }
    for (var round = 0u; round < 2u * pairs - 1u; round++) {
      for (var at = 0u; at * together < pairs; at++) {
        turn_rows(matrix, round, sweep, at * together, thread);
      }
      storageBarrier();
      for (var at = thread; at < params.n * pairs; at += THREADS) {
        turn_columns(matrix, round, at);
      }
      storageBarrier();
    }
  }
}

// In ascending order, values = the diagonal times the matrix's scale, vectors = the rest of the
// rows, conjugated and scaled to length 1: one eigenvector per row.
@compute @workgroup_size(THREADS)
fn main_order(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let row = group.y * groups.x + group.x;
  let matrix = row / params.n;
  if (matrix >= params.matrices) {
    return;
  }
  let value = real_part(w[row * params.columns + row % params.n]);
  let behind = params.columns - params.n;
  var count = vec2f();
  for (var i = thread; i < params.n; i += THREADS) {
    let at = matrix * params.n + i;
    let other = real_part(w[at * params.columns + i]);
    if (other < value || (!(other > value) && at < row)) {
      count.x += 1.0;
    }
  }
  for (var i = thread; i < behind; i += THREADS) {
    count.y += square(w[row * params.columns + params.n + i]);
  }
  counts[thread] = count;
  for (var half = THREADS / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (thread < half) {
      counts[thread] += counts[thread + half];
    }
  }
  workgroupBarrier();
  let to = matrix * params.n + u32(counts[0].x);
  let length = sqrt(counts[0].y);
  for (var i = thread; i < behind; i += THREADS) {
    vectors[to * behind + i] = conjugate(w[row * params.columns + params.n + i]) / length;
  }
  if (thread == 0u) {
    values[to] = value * scales[matrix];
  }
}
