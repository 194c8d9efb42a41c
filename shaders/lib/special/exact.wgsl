// Exponentials and logarithms of one number with all digits of float32. The built-in functions may
// be off by many units in the last place.

//#include lib/floats.wgsl
//#include lib/math/exponentials.wgsl
//#include lib/math/logarithms.wgsl
//#include lib/math/trigonometry.wgsl

fn exact_exp(x: f32) -> f32 {
  return np_exp(vec4f(x)).x;
}

fn exact_expm1(x: f32) -> f32 {
  return np_expm1(vec4f(x)).x;
}

fn exact_log(x: f32) -> f32 {
  return np_log(vec4f(x)).x;
}

fn exact_log1p(x: f32) -> f32 {
  return np_log1p(vec4f(x)).x;
}

fn exact_sin(x: f32) -> f32 {
  return np_sin(vec4f(x)).x;
}

fn exact_cos(x: f32) -> f32 {
  return np_cos(vec4f(x)).x;
}

// exp(factor x²): x's first 12 bits have an exact square.
fn exp_of_square(factor: f32, x: f32) -> f32 {
  let top = bitcast<f32>(bitcast<u32>(x) & 0xfffff000u);
  return exact_exp(factor * top * top) * exact_exp(factor * (x - top) * (x + top));
}

fn infinity() -> f32 {
  return from_bits(0x7f800000u);
}
