// conv2d_matrix for numbers of outputs that are not multiples of 8. The rows of the windows are
// padded to whole vec4u, unless VECTORS is 0. Results and the residual are single halves.

enable f16;
enable subgroups;
enable chromium_experimental_subgroup_matrix;

diagnostic(off, chromium.subgroup_matrix_uniformity);

//#include lib/activation.wgsl
//#include lib/conv2d_matrix.wgsl
//#include lib/halves_matrices.wgsl

@group(0) @binding(4) var<storage, read> residual: array<f16>;
@group(0) @binding(5) var<storage, read_write> c: array<f16>;

const C_SHIFT = 0u;

// Four halves of the residual. Those behind a row are not used.
fn added(at: u32) -> vec4f {
  return vec4f(vec4h(residual[at], residual[at + 1u], residual[at + 2u], residual[at + 3u]));
}

// Writes one matrix of sums to C's elements from (row, column) on.
fn write(sum: Sum, subgroup: u32, lane: u32, row: u32, column: u32) {
  let tile = &c_tile[subgroup];
  subgroupMatrixStore<row_major>(tile, 0u, sum, C_PITCH);
  workgroupBarrier();
  let i = row + lane / 2u;
  let j = column + lane % 2u * 8u;
  if (i < params.m && j < params.n) {
    let at = lane / 2u * C_PITCH + lane % 2u * 2u;
    var low = scaled(bitcast<vec4f>(tile[at]), i);
    var high = scaled(bitcast<vec4f>(tile[at + 1u]), i);
    let to = c_first + i * params.n + j;
    //#if RESIDUAL
    low += added(to);
    high += added(to + 4u);
    //#endif
    let first = vec4h(apply(low));
    let second = vec4h(apply(high));
    let count = params.n - j;
    //#repeat E 4
    if (E < count) { c[to + E] = first[E]; }
    //#end
    //#repeat E 4
    if (E + 4u < count) { c[to + E + 4u] = second[E]; }
    //#end
  }
  workgroupBarrier();
}

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
  @builtin(subgroup_id) subgroup: u32,
  @builtin(subgroup_invocation_id) lane: u32,
) {
  multiply(group, groups, thread, subgroup, lane);
}
