// Singular values by Hestenes' one-sided Jacobi method (https://doi.org/10.1137/0106005): pairs of
// a matrix's vectors are rotated until all are orthogonal. A row of w [vectors, columns] has one
// vector of `length` numbers, and numbers after it that are rotated with it. An identity there
// becomes the right singular vectors. Elements should be at most about 1.
//
// A round rotates disjoint pairs of vectors. One workgroup does all rounds and sweeps of a matrix;
// turn_blocks.wgsl is for large matrices. The last sweep is the one without a rotation.

struct Params {
  matrices: u32,
  vectors: u32,
  length: u32,
  columns: u32,
  sweeps: u32, // maximum
  lanes: u32, // threads per pair: a power of two, at most THREADS
}

@group(0) @binding(0) var<storage, read_write> w: array<Number>;
// For each matrix and sweep, whether anything was rotated; initially zeros.
@group(0) @binding(1) var<storage, read_write> turned: array<atomic<u32>>;
@group(0) @binding(2) var<storage, read_write> sizes: array<f32>;
@group(0) @binding(3) var<storage, read> scales: array<f32>;
@group(0) @binding(4) var<storage, read_write> values: array<f32>;
@group(0) @binding(5) var<storage, read_write> vectors: array<Number>;
@group(0) @binding(6) var<storage, read_write> others: array<Number>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/numbers.wgsl
//#include lib/rotations.wgsl

const THREADS = 256u;
const NEAR = 1.2e-7; // cosines that count as 0, for vectors of one element
const NOTHING = 3e-8; // projections that count as 0, relative to the largest element, about 1

var<workgroup> parts: array<vec4f, THREADS>;
var<workgroup> is_busy: u32;

fn turn_pairs(matrix: u32, round: u32, sweep: u32, first: u32, thread: u32) {
  let lanes = params.lanes;
  let lane = thread % lanes;
  let k = first + thread / lanes;
  let pair = pair_of(params.vectors, round, k);
  let is_there = k < pairs_of(params.vectors) && pair.y < params.vectors;
  let p = (matrix * params.vectors + pair.x) * params.columns;
  let q = (matrix * params.vectors + pair.y) * params.columns;
  var sums = vec4f();
  if (is_there) {
    for (var i = lane; i < params.length; i += lanes) {
      let product = times(conjugate(w[p + i]), w[q + i]);
      sums += vec4f(
        square(w[p + i]), square(w[q + i]), real_part(product), imaginary_part(product));
    }
  }
  parts[thread] = sums;
  for (var half = lanes / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (lane < half) {
      parts[thread] += parts[thread + half];
    }
  }
  workgroupBarrier();
  let total = parts[thread - lane];
  let product = number_of(total.zw);
  let longer = sqrt(max(total.x, total.y));
  let shorter = sqrt(min(total.x, total.y));
  let near = longer * max(NEAR * sqrt(f32(params.length)) * shorter, NOTHING);
  if (is_there && !(sqrt(square(product)) <= near)) {
    let rotation = rotation_of(total.x, total.y, product);
    for (var i = lane; i < params.columns; i += lanes) {
      let one = w[p + i];
      let other = w[q + i];
      w[p + i] = first_of(rotation, one, other);
      w[q + i] = second_of(rotation, one, other);
    }
    if (lane == 0u) {
      atomicStore(&turned[sweep * params.matrices + matrix], 1u);
    }
  }
  workgroupBarrier();
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
  let pairs = pairs_of(params.vectors);
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
        turn_pairs(matrix, round, sweep, at * together, thread);
      }
      storageBarrier();
    }
  }
}

// sizes = the lengths of the vectors: the singular values, unsorted.
@compute @workgroup_size(THREADS)
fn main_sizes(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let row = group.y * groups.x + group.x;
  if (row >= params.matrices * params.vectors) {
    return;
  }
  var sum = 0.0;
  for (var i = thread; i < params.length; i += THREADS) {
    sum += square(w[row * params.columns + i]);
  }
  parts[thread] = vec4f(sum);
  for (var half = THREADS / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (thread < half) {
      parts[thread] += parts[thread + half];
    }
  }
  if (thread == 0u) {
    sizes[row] = sqrt(parts[0].x);
  }
}

// Sorts the rows of w by descending size. vectors = the rows' vectors, others = the numbers after
// the vectors, conjugated and scaled to length 1, values = the sizes times the matrix's scale.
@compute @workgroup_size(THREADS)
fn main_order(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let row = group.y * groups.x + group.x;
  let matrix = row / params.vectors;
  if (matrix >= params.matrices) {
    return;
  }
  // By their bits, so NaN come first.
  let own = bitcast<u32>(sizes[row]);
  let behind = params.columns - params.length;
  var counts = vec4f();
  for (var i = thread; i < params.vectors; i += THREADS) {
    let other = matrix * params.vectors + i;
    let bits = bitcast<u32>(sizes[other]);
    if (bits > own || (bits == own && other < row)) {
      counts.x += 1.0;
    }
  }
  for (var i = thread; i < behind; i += THREADS) {
    counts.y += square(w[row * params.columns + params.length + i]);
  }
  parts[thread] = counts;
  for (var half = THREADS / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (thread < half) {
      parts[thread] += parts[thread + half];
    }
  }
  workgroupBarrier();
  let to = matrix * params.vectors + u32(parts[0].x);
  let length = sqrt(parts[0].y);
  for (var i = thread; i < params.length; i += THREADS) {
    vectors[to * params.length + i] = w[row * params.columns + i];
  }
  for (var i = thread; i < behind; i += THREADS) {
    others[to * behind + i] = conjugate(w[row * params.columns + params.length + i]) / length;
  }
  if (thread == 0u) {
    values[to] = sizes[row] * scales[matrix];
  }
}
