// What products of float16 matrices by subgroup matrices have in common, whatever their tiles of
// ROWS by COLUMNS: operands, where a workgroup's tile lies, and how it is written.

//#include lib/activation.wgsl
//#include lib/gemm_f16_params.wgsl
//#include lib/halves.wgsl
//#include lib/tiles.wgsl

@group(0) @binding(0) var<storage, read> a: array<vec4u>; // eight halves each
@group(0) @binding(1) var<storage, read> b: array<vec4u>;
@group(0) @binding(2) var<storage, read> bias: array<vec4u>;
@group(0) @binding(3) var<storage, read_write> c: array<vec4u>; // or four floats

alias Left = subgroup_matrix_left<f16, 16, 16>;
alias Right = subgroup_matrix_right<f16, 16, 16>;
alias Sum = subgroup_matrix_result<f32, 16, 16>;

const C_PITCH = 5u; // in vec4u; odd, so that a matrix's rows start in different banks

var<workgroup> c_tile: array<array<vec4u, 16u * C_PITCH>, THREADS / 32u>; // sums of each subgroup

fn to_halves(x: vec4f) -> vec2u {
  return vec2u(bitcast<u32>(vec2h(x.xy)), bitcast<u32>(vec2h(x.zw)));
}

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
