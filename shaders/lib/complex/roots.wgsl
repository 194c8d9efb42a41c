// Square roots, within 4 ULP of each part.

//#include lib/complex/parts.wgsl
//#include lib/math/wide.wgsl

// The root with a nonnegative real part. The magnitudes of its parts are t = sqrt((|x| + |z|) / 2)
// and |y| / 2t. t belongs to the real part unless x is negative. C17 G.6.4.2 defines the special
// cases.
fn c_sqrt(z: C) -> C {
  let even = exponent_of_larger(z) & vec4i(-2);
  let m = c_scaled(z, -even);
  let size = near_root(m.re * m.re + m.im * m.im);
  let t = near_root(0.5 * (abs(m.re) + size));
  let u = abs(m.im) / (2.0 * max(t, vec4f(1e-30)));
  let half = even >> vec4u(1u);
  let large = scaled_by(t, half);
  let small = scaled_by(u, half);
  let is_left = sign_bits(z.re) != vec4u();
  let value = C(select(large, small, is_left), select(small, large, is_left));

  let x_infinite = size_bits(z.re) == vec4u(INFINITY);
  let y_infinite = size_bits(z.im) == vec4u(INFINITY);
  let beside = number_or_nan(vec4f(), !are_nan(z.im)); // the other part of an infinite number
  var re = number_or_nan(value.re, !c_isnan(z));
  var im = number_or_nan(value.im, !c_isnan(z));
  re = select(re, select(infinities(), beside, is_left), x_infinite);
  im = select(im, select(beside, infinities(), is_left), x_infinite);
  re = select(re, infinities(), y_infinite);
  im = select(im, infinities(), y_infinite);
  return C(re, flipped(im, sign_bits(z.im)));
}
