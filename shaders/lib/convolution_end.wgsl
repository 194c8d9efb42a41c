// The epilogue of convolutions: last(f(scale sum + bias) + residual).

//#include lib/activation_of_one.wgsl

override AFTER: u32 = 0u; // whether there may be more than a bias
override WHOLE: u32 = 1u; // 0 if the residual is float16, for files that include lib/halves.wgsl

//#if WHOLE
fn residual_at(at: u32) -> f32 {
  return residual[at];
}
//#else
fn residual_at(at: u32) -> f32 {
  return half_of(residual[at >> 1u], at);
}
//#endif

//#if AFTER
fn ended(sum: f32, filter_index: u32, at: u32) -> f32 {
  // bits: 1 a bias and 2 a scale for each filter, 4 the residual; from 8 on f, from 16 on last
  let added = params.added;
  var value = sum;
  if ((added & 2u) != 0u) {
    value *= scale[filter_index];
  }
  if ((added & 1u) != 0u) {
    value += bias[filter_index];
  }
  let function: u32 = (added >> 8u) & 255u; // f: 0 none, 1 relu, 2 gelu, 3 silu, 4 gelu_erf
  value = apply(value, function);
  if ((added & 4u) != 0u) {
    value += residual_at(at);
  }
  return apply(value, added >> 16u);
}
//#endif
