// Operands, parameters and results of convolutions with 3 × 3 windows.

struct Params {
  channels: u32, // of one group
  height: u32,
  width: u32,
  filters: u32, // of one group
  out_h: u32,
  out_w: u32,
  pad_h: u32,
  pad_w: u32,
  groups: u32,
  added: u32, // whether each filter has a bias; with AFTER as in lib/convolution_end.wgsl
  chunk: u32, // channels per part of the sum
  first_z: u32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> w: array<f32>;
@group(0) @binding(2) var<storage, read> bias: array<f32>;
@group(0) @binding(3) var<storage, read> scale: array<f32>;
@group(0) @binding(4) var<storage, read> residual: array<f32>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/convolution_end.wgsl

// Writes a pixel of four filters of the group, from filter_index on.
fn store(
  sums: vec4f, filter_index: u32, filters_before: u32, z: u32, row: u32, column: u32,
) {
  if (row >= params.out_h || column >= params.out_w) {
    return;
  }
  for (var i = 0u; i < 4u && filter_index + i < params.filters; i++) {
    let row_of_y = (z * params.filters + filter_index + i) * params.out_h + row;
    let at = row_of_y * params.out_w + column;
    let own = filters_before + filter_index + i;
    //#if AFTER
    if (AFTER != 0u) {
      y[at] = ended(sums[i], own, at);
      continue;
    }
    //#endif
    var added = 0.0;
    if (params.added != 0u) {
      added = bias[own];
    }
    y[at] = sums[i] + added;
  }
}
