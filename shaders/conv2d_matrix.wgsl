// A float16 convolution of many filters, summed in float32: the filters (m rows of k steps, padded
// with zeros to whole vec4u) times the windows that they see (k rows of n outputs), for each image.
// n is a multiple of 8. conv2d_matrix_uneven has other numbers of outputs.
// 2mnk operations; the windows are read m / ROWS times.

enable f16;
enable subgroups;
enable chromium_experimental_subgroup_matrix;

diagnostic(off, chromium.subgroup_matrix_uniformity);

//#include lib/activation.wgsl
//#include lib/conv2d_matrix.wgsl
//#include lib/halves.wgsl
//#include lib/halves_matrices.wgsl

@group(0) @binding(4) var<storage, read> residual: array<vec4u>;
@group(0) @binding(5) var<storage, read_write> c: array<vec4u>;

const C_SHIFT = 3u;

// Writes one matrix of sums to C's elements from (row, column) on.
fn write(sum: Sum, subgroup: u32, lane: u32, row: u32, column: u32) {
  let tile = &c_tile[subgroup];
  subgroupMatrixStore<row_major>(tile, 0u, sum, C_PITCH);
  workgroupBarrier();
  let i = row + lane / 2u;
  let j = column / 8u + lane % 2u;
  let width = params.n / 8u;
  if (i < params.m && j < width) {
    let at = lane / 2u * C_PITCH + lane % 2u * 2u;
    var low = scaled(bitcast<vec4f>(tile[at]), i);
    var high = scaled(bitcast<vec4f>(tile[at + 1u]), i);
    let to = c_first + i * width + j;
    //#if RESIDUAL
    let eight = residual[to];
    low += widened(eight.xy);
    high += widened(eight.zw);
    //#endif
    c[to] = vec4u(to_halves(apply(low)), to_halves(apply(high)));
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
