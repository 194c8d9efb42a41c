// Sine, cosine and tangent of radians, within 2 ULP for all magnitudes.

//#include lib/floats.wgsl
//#include lib/kept.wgsl
//#include lib/math/angles.wgsl
//#include lib/math/bits.wgsl
//#include lib/math/wide.wgsl

// Between -π/4 and π/4: the polynomials of Cephes' sinf.c.
fn sin_near(v: vec4f) -> vec4f {
  let t = v * v;
  return v + v * t * (-1.6666654611e-1 + t * (8.3321608736e-3 + t * -1.9515295891e-4));
}

fn cos_near(v: vec4f) -> vec4f {
  let t = v * v;
  return (1.0 - 0.5 * t)
    + t * t * (4.166664568298827e-2 + t * (-1.388731625493765e-3 + t * 2.443315711809948e-5));
}

// The sine of an angle and some quarter turns.
fn sin_of(angle: Angle, more: u32) -> vec4f {
  let quarters = angle.quarters + vec4u(more);
  let is_odd = (quarters & vec4u(1u)) != vec4u();
  let value = select(sin_near(angle.rest), cos_near(angle.rest), is_odd);
  return flipped(value, (quarters & vec4u(2u)) << vec4u(30u));
}

fn nan_unless_finite(v: vec4f, value: vec4f) -> vec4f {
  return select(value, vec4f(quiet_nan()), size_bits(v) >= vec4u(INFINITY));
}

fn np_sin(v: vec4f) -> vec4f {
  return nan_unless_finite(v, flipped(sin_of(angle_of(v), 0u), sign_bits(v)));
}

fn np_cos(v: vec4f) -> vec4f {
  return nan_unless_finite(v, sin_of(angle_of(v), 1u));
}

// The polynomial of Cephes' tanf.c between -π/4 and π/4; the tangent of a quarter turn more is
// -1 / tan.
fn np_tan(v: vec4f) -> vec4f {
  let angle = angle_of(v);
  let r = angle.rest;
  let t = r * r;
  let series = t * (3.33331568548e-1 + t * (1.33387994085e-1 + t * (5.34112807005e-2
    + t * (2.44301354525e-2 + t * (3.11992232697e-3 + t * 9.38540185543e-3)))));
  let small = angle.lost + r * series;
  let near = kept(r + small);
  let quotient = near_quotient(vec4f(-1.0), near);
  // The digits lost by `near`, times the derivative of the quotient.
  let turned = quotient + quotient * quotient * (small - kept(near - r));
  let is_odd = (angle.quarters & vec4u(1u)) != vec4u();
  let value = select(near, turned, is_odd);
  return nan_unless_finite(v, flipped(value, sign_bits(v)));
}
