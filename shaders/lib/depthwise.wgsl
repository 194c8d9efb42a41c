// Four vertically adjacent pixels of a convolution in which each filter sees only one channel. See
// conv2d_depthwise.wgsl.

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> w: array<f32>;
@group(0) @binding(2) var<storage, read> bias: array<f32>;
@group(0) @binding(3) var<storage, read> scale: array<f32>;
@group(0) @binding(4) var<storage, read> residual: array<f32>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/convolution_end.wgsl
//#include lib/depthwise_params.wgsl

override BIAS: u32 = 0u;

const THREADS = 64u;

fn input_at(base: u32, row: u32, column: u32) -> f32 {
  // Positions left of or above x are huge, because unsigned numbers wrap.
  if (row >= params.height || column >= params.width) {
    return 0.0;
  }
  return x[base + row * params.width + column];
}

// The place of a thread's pixels: the plane of y, and the row and column of the first pixel.
struct Place {
  plane: u32, // image × filters + filter
  row: u32,
  column: u32,
}

fn computed(place: Place) -> vec4f {
  let x_base = place.plane / params.filters * params.height * params.width;
  let filter_index = place.plane % params.all_filters;
  let w_base = filter_index * params.kernel_h * params.kernel_w;
  let row0 = place.row * params.stride_h - params.pad_h;
  let column0 = place.column * params.stride_w - params.pad_w;
  var sums = vec4f();
  for (var r = 0u; r < params.kernel_h; r++) {
    let row = row0 + r * params.dilation_h;
    for (var s = 0u; s < params.kernel_w; s++) {
      let column = column0 + s * params.dilation_w;
      let four = vec4f(
        input_at(x_base, row, column),
        input_at(x_base, row + params.stride_h, column),
        input_at(x_base, row + 2u * params.stride_h, column),
        input_at(x_base, row + 3u * params.stride_h, column),
      );
      sums += w[w_base + r * params.kernel_w + s] * four;
    }
  }
  if (BIAS != 0u) {
    sums += bias[filter_index];
  }
  return sums;
}

// Writes pixels, and returns the sum of their values.
fn write(place: Place, sums: vec4f) -> f32 {
  let base = (place.plane * params.out_h + place.row) * params.out_w + place.column;
  var total = 0.0;
  for (var j = 0u; j < 4u; j++) {
    if (place.row + j < params.out_h) {
      let at = base + j * params.out_w;
      var value = sums[j];
      //#if AFTER
      if (AFTER != 0u) {
        value = ended(value, place.plane % params.all_filters, at);
      }
      //#endif
      y[at] = value;
      total += value;
    }
  }
  return total;
}
