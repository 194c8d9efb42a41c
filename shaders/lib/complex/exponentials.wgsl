// e^z and e^z - 1, within 4 ULP of their magnitude. C17 G.6.3.1 defines the special cases.

//#include lib/complex/parts.wgsl
//#include lib/math/angles.wgsl
//#include lib/math/exponentials.wgsl
//#include lib/math/trigonometry.wgsl

// cos y + i sin y, for a finite y and its angle.
fn turned(angle: Angle, y: vec4f) -> C {
  return C(sin_of(angle, 1u), flipped(sin_of(angle, 0u), sign_bits(y)));
}

// turn e^x 2^doubled. A part is infinite only if it exceeds the range of f32.
fn rising(x: vec4f, turn: C, doubled: i32) -> C {
  let exponent = exponent_of(x);
  let rest = exponent.rest;
  let power = 1.0 + (rest + rest * rest * exp_series(rest));
  let whole = vec4i(exponent.whole) + vec4i(doubled);
  return C(scaled_by(power * turn.re, whole), scaled_by(power * turn.im, whole));
}

fn exp_of_angle(z: C, angle: Angle) -> C {
  let value = rising(z.re, turned(angle, z.im), 0);
  let turns = size_bits(z.im) < vec4u(INFINITY);
  let is_number = turns & !are_nan(z.re);
  let falls = !turns & (bitcast<vec4u>(z.re) == vec4u(0xff800000u));
  let grows = !turns & (bitcast<vec4u>(z.re) == vec4u(INFINITY));
  let re = select(number_or_nan(value.re, is_number), infinities(), grows);
  let im = select(number_or_nan(value.im, is_number), z.im, is_zero(z.im));
  return C(select(re, vec4f(), falls), select(im, vec4f(), falls));
}

fn c_exp(z: C) -> C {
  return exp_of_angle(z, angle_of(z.im));
}

// The real part is (e^x - 1) cos y + (cos y - 1). For x ≥ 20, subtracting 1 has no effect.
fn c_expm1(z: C) -> C {
  let angle = angle_of(z.im);
  let large = exp_of_angle(z, angle);
  let cosine = sin_of(angle, 1u);
  let t = angle.rest * angle.rest;
  let near_one = t * t * (4.166664568298827e-2
    + t * (-1.388731625493765e-3 + t * 2.443315711809948e-5)) - 0.5 * t;
  let is_near = (angle.quarters & vec4u(3u)) == vec4u();
  let less = select(cosine - 1.0, near_one, is_near);
  let near = np_expm1(z.re) * cosine + less;
  let is_usual = c_isfinite(z) & (z.re < vec4f(20.0));
  let falls = bitcast<vec4u>(z.re) == vec4u(0xff800000u);
  return C(select(select(large.re, near, is_usual), vec4f(-1.0), falls), large.im);
}
