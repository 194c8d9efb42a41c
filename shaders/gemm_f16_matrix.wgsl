// C = f(alpha A B + bias) + residual + beta C, row-major and contiguous, float16 in memory and
// float32 sums, by subgroup matrices. Rows are whole vec4u: n and k are multiples of 8, or rows are
// padded, A's with zeros. With TURNED, B is stored transposed, as the weights of layers are: n rows
// of k elements.
// 2mnk operations; A is read n / COLUMNS times, B m / ROWS times.

enable f16;
enable subgroups;
enable chromium_experimental_subgroup_matrix;

diagnostic(off, chromium.subgroup_matrix_uniformity);

//#include lib/activation.wgsl
//#include lib/gemm_f16_params.wgsl
//#include lib/halves.wgsl
//#include lib/halves_matrices.wgsl

@group(0) @binding(2) var<storage, read> bias: array<vec4u>;
@group(0) @binding(3) var<storage, read_write> c: array<vec4u>; // or four floats
@group(0) @binding(4) var<storage, read> residual: array<vec4u>; // laid out as C

override RESIDUAL: u32 = 0u; // whether to add it. Unused code for it takes registers

const C_SHIFT = 3u;

// Writes one matrix of sums to C's elements from (row, column) on.
fn write(sum: Sum, subgroup: u32, lane: u32, row: u32, column: u32) {
  let tile = &c_tile[subgroup];
  subgroupMatrixStore<row_major>(tile, 0u, sum, C_PITCH);
  workgroupBarrier();
  let i = row + lane / 2u;
  let j = column / 8u + lane % 2u;
  let width = (params.n + 7u) / 8u;
  if (i < params.m && j < width) {
    let at = lane / 2u * C_PITCH + lane % 2u * 2u;
    var low = params.alpha * bitcast<vec4f>(tile[at]);
    var high = params.alpha * bitcast<vec4f>(tile[at + 1u]);
    //#if BIASED
    if (params.biased != 0u) {
      let eight = bias[j];
      low += widened(eight.xy);
      high += widened(eight.zw);
    }
    //#endif
    low = apply(low);
    high = apply(high);
    let to = c_first + i * width + j;
    //#if RESIDUAL
    let summand = residual[to];
    low += widened(summand.xy);
    high += widened(summand.zw);
    //#endif
    if (params.beta != 0.0) {
      let old = c[to];
      low += params.beta * widened(old.xy);
      high += params.beta * widened(old.zw);
    }
    //#if WIDE
    if (WIDE == 1u) {
      c[2u * to] = bitcast<vec4u>(low);
      c[2u * to + 1u] = bitcast<vec4u>(high);
    } else
    //#endif
    {
      c[to] = vec4u(to_halves(low), to_halves(high));
    }
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
