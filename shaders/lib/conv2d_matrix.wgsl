// What the kernels of float16 convolutions compute from the sums of a filter:
// f(scale sum + bias + residual). The grid's z is the number of images.

struct Params {
  m: u32, // filters
  n: u32, // outputs of an image
  k: u32, // steps
  a_batch: u32, // 0: all images have the same filters
  b_batch: u32, // halves of an image's windows
  c_batch: u32, // halves of an image's outputs
}

@group(0) @binding(2) var<storage, read> scale: array<f32>;
@group(0) @binding(3) var<storage, read> bias: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

// Whether there is a scale, a bias and a residual. Unused code for them takes registers.
override SCALED: u32 = 1u;
override BIASED: u32 = 1u;
override RESIDUAL: u32 = 1u;

var<private> c_first: u32; // this image's first element of C, in units of C's array

fn scaled(sums: vec4f, filter_index: u32) -> vec4f {
  var values = sums;
  //#if SCALED
  values *= scale[filter_index];
  //#endif
  //#if BIASED
  values += bias[filter_index];
  //#endif
  return values;
}
