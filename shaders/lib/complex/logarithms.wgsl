// Logarithms, within 4 ULP of their magnitude. The imaginary part of ln z is between -π and π. C17
// G.6.3.2 defines the special cases.

//#include lib/complex/parts.wgsl
//#include lib/math/arcs.wgsl
//#include lib/math/logarithms.wgsl

// ln z, except for infinities and NaN. `less_one` is re - 1, which may be more precise than re.
//
// With 2^k (1 + f) as the larger part and 2^k s as the other one, ln |z| is k ln 2 + ln (1 + 2 f +
// f² + s²) / 2. Near 1, cancellation in the sum is insignificant beside the angle.
fn log_of(re: vec4f, im: vec4f, less_one: vec4f) -> C {
  let x = size_bits(re);
  let y = size_bits(im);
  let larger = logarithm_of(bitcast<vec4f>(max(x, y)));
  let whole = vec4i(larger.whole);
  let is_near = (whole == vec4i()) & (x >= y) & (sign_bits(re) == vec4u());
  let f = select(larger.fraction, less_one, is_near);
  let s = scaled_by(bitcast<vec4f>(min(x, y)), -whole);
  let half = 0.5 * log1p_from(2.0 * f + (f * f + s * s), vec4f());
  let size = larger.whole * 0.693359375 + (half - larger.whole * 0.00021219444);
  return C(size, np_atan2(im, re));
}

// `scale` ln (re + i im), for all numbers.
fn scaled_log(re: vec4f, im: vec4f, less_one: vec4f, scale: f32) -> C {
  let z = C(re, im);
  let value = log_of(re, im, less_one);
  let size = number_or_nan(value.re * scale, !c_isnan(z));
  let with_zero = select(size, -infinities(), c_iszero(z));
  let angle = number_or_nan(value.im * scale, !c_isnan(z));
  return C(select(with_zero, infinities(), c_isinf(z)), angle);
}

fn c_log(z: C) -> C {
  return scaled_log(z.re, z.im, z.re - 1.0, 1.0);
}

fn c_log1p(z: C) -> C {
  return scaled_log(1.0 + z.re, z.im, z.re, 1.0);
}

fn c_log2(z: C) -> C {
  return scaled_log(z.re, z.im, z.re - 1.0, 1.442695);
}

fn c_log10(z: C) -> C {
  return scaled_log(z.re, z.im, z.re - 1.0, 0.4342945);
}
