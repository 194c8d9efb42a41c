// Hyperbolic and trigonometric functions, within 6 ULP of their magnitude. The latter exchange the
// parts: sin z = -i sinh i z, cos z = cosh i z, tan z = -i tanh i z. C17 G.6.2 defines the special
// cases.

//#include lib/complex/exponentials.wgsl
//#include lib/complex/parts.wgsl
//#include lib/math/angles.wgsl
//#include lib/math/hyperbolic.wgsl

const FAR = 20.0; // for larger |x|, sinh and cosh are e^|x| / 2

fn c_sinh(z: C) -> C {
  let turn = turned(angle_of(z.im), z.im);
  let far = rising(abs(z.re), turn, -1);
  let is_far = abs(z.re) > vec4f(FAR);
  let re = select(np_sinh(z.re) * turn.re, flipped(far.re, sign_bits(z.re)), is_far);
  let im = select(np_cosh(z.re) * turn.im, far.im, is_far);

  let turns = size_bits(z.im) < vec4u(INFINITY);
  let is_number = turns & !are_nan(z.re);
  let stays = !turns & (is_zero(z.re) | (size_bits(z.re) == vec4u(INFINITY)));
  return C(
    select(number_or_nan(re, is_number), z.re, stays),
    select(number_or_nan(im, is_number), z.im, is_zero(z.im)));
}

fn c_cosh(z: C) -> C {
  let turn = turned(angle_of(z.im), z.im);
  let far = rising(abs(z.re), turn, -1);
  let is_far = abs(z.re) > vec4f(FAR);
  let re = select(np_cosh(z.re) * turn.re, far.re, is_far);
  let im = select(np_sinh(z.re) * turn.im, flipped(far.im, sign_bits(z.re)), is_far);

  let turns = size_bits(z.im) < vec4u(INFINITY);
  let is_number = turns & !are_nan(z.re);
  let grows = !turns & (size_bits(z.re) == vec4u(INFINITY));
  let zero = flipped(vec4f(), sign_bits(z.re) ^ sign_bits(z.im));
  return C(
    select(number_or_nan(re, is_number), infinities(), grows),
    select(number_or_nan(im, is_number), zero, !is_number & (is_zero(z.re) | is_zero(z.im))));
}

// (sinh x cosh x + i sin y cos y) / (sinh² x + cos² y). For |x| > 10, the parts are ±1 and
// 4 sin y cos y e^-2|x|. For infinite x, the imaginary part is a zero with y's sign, as in the Array
// API standard (C17: with the sign of sin 2y).
fn c_tanh(z: C) -> C {
  let turn = turned(angle_of(z.im), z.im);
  let size = abs(z.re);
  let is_far = size > vec4f(10.0);
  let near = select(z.re, vec4f(), is_far | are_nan(z.re));
  let sinh = np_sinh(near);
  let divisor = sinh * sinh + turn.re * turn.re;
  let re = select(sinh * np_cosh(near) / divisor, flipped(vec4f(1.0), sign_bits(z.re)), is_far);
  let product = turn.re * turn.im;
  let im = select(product / divisor, 4.0 * product * exp_accurate(-2.0 * size), is_far);

  let turns = size_bits(z.im) < vec4u(INFINITY);
  let is_infinite = size_bits(z.re) == vec4u(INFINITY);
  let is_number = turns & !are_nan(z.re);
  let with_zero = select(number_or_nan(re, is_number), z.re, is_zero(z.re) & !turns);
  let side = flipped(vec4f(1.0), sign_bits(z.re));
  let none = flipped(vec4f(), sign_bits(z.im));
  return C(
    select(with_zero, side, is_infinite),
    select(number_or_nan(im, is_number), none, is_infinite | is_zero(z.im)));
}

fn c_exchanged(z: C) -> C {
  return C(z.im, z.re);
}

fn c_sin(z: C) -> C {
  return c_exchanged(c_sinh(c_exchanged(z)));
}

fn c_cos(z: C) -> C {
  let value = c_cosh(c_exchanged(z));
  return C(value.re, -value.im);
}

fn c_tan(z: C) -> C {
  return c_exchanged(c_tanh(c_exchanged(z)));
}
