// The main cost of blocked factorizations: subtracts from one part of matrices a [rows, columns]
// the product of two others, a[row + i, column + j] -= sum over k < depth of a[row + i, inner + k]
// b[k, j], for i < height, j < width. b[k, j] is a[inner + k, column + j], or, if `adjoint`,
// conj(a[column + j, inner + k]). The parts do not overlap.
//
// A workgroup computes 32 × 32 elements, a thread 2 × 2 of them, 16 rows and columns apart.

struct Params {
  first: u32, // matrix of the dispatch
  rows: u32,
  columns: u32,
  row: u32,
  height: u32,
  column: u32,
  width: u32,
  inner: u32,
  depth: u32,
  adjoint: u32, // 1: for a Hermitian part, only the lower triangle is computed
}

@group(0) @binding(0) var<storage, read_write> a: array<Number>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/numbers.wgsl

const TILE = 32u;
const DEPTH = 16u; // steps in workgroup memory at once
const PITCH = 33u; // so that neighbours in a column are in different banks

var<workgroup> left: array<Number, 528>; // [DEPTH, PITCH], transposed
var<workgroup> right: array<Number, 528>; // [DEPTH, PITCH]

@compute @workgroup_size(16, 16)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(local_invocation_id) local: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  if (params.adjoint != 0u && group.x > group.y) { // above the diagonal
    return;
  }
  let begin = (params.first + group.z) * params.rows * params.columns;
  let top = group.y * TILE; // within the part
  let side = group.x * TILE;
  var sums: array<Number, 4>;
  for (var start = 0u; start < params.depth; start += DEPTH) {
    for (var at = thread; at < TILE * DEPTH; at += 256u) {
      let k = at % DEPTH;
      let i = at / DEPTH;
      var value = number(0.0);
      if (start + k < params.depth && top + i < params.height) {
        let row = params.row + top + i;
        value = a[begin + row * params.columns + params.inner + start + k];
      }
      left[k * PITCH + i] = value;
    }
    if (params.adjoint != 0u) {
      for (var at = thread; at < TILE * DEPTH; at += 256u) {
        let k = at % DEPTH;
        let j = at / DEPTH;
        var value = number(0.0);
        if (start + k < params.depth && side + j < params.width) {
          let row = params.column + side + j;
          value = conjugate(a[begin + row * params.columns + params.inner + start + k]);
        }
        right[k * PITCH + j] = value;
      }
    } else {
      for (var at = thread; at < TILE * DEPTH; at += 256u) {
        let k = at / TILE;
        let j = at % TILE;
        var value = number(0.0);
        if (start + k < params.depth && side + j < params.width) {
          let row = params.inner + start + k;
          value = a[begin + row * params.columns + params.column + side + j];
        }
        right[k * PITCH + j] = value;
      }
    }
    workgroupBarrier();
    for (var k = 0u; k < DEPTH; k++) {
      let above = left[k * PITCH + local.y];
      let below = left[k * PITCH + local.y + 16u];
      let first = right[k * PITCH + local.x];
      let second = right[k * PITCH + local.x + 16u];
      sums[0] += times(above, first);
      sums[1] += times(above, second);
      sums[2] += times(below, first);
      sums[3] += times(below, second);
    }
    workgroupBarrier();
  }
  for (var part = 0u; part < 4u; part++) {
    let i = top + local.y + part / 2u * 16u;
    let j = side + local.x + part % 2u * 16u;
    if (i < params.height && j < params.width) {
      a[begin + (params.row + i) * params.columns + params.column + j] -= sums[part];
    }
  }
}
