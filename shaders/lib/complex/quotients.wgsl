// Quotients and signs, within 4 ULP of their magnitude. Both operands are divided by powers of two
// first, so intermediate values do not overflow. Infinities and zeros follow C17 G.5.1.

//#include lib/complex/parts.wgsl
//#include lib/math/wide.wgsl

fn c_divide(a: C, b: C) -> C {
  let p = boxed(a);
  let q = boxed(b);
  let p_exponent = exponent_of_larger(p);
  let q_exponent = exponent_of_larger(q);
  let m = c_scaled(p, -p_exponent);
  let n = c_scaled(q, -q_exponent);
  let by_zero = c_iszero(b);
  let square = select(n.re * n.re + n.im * n.im, vec4f(1.0), by_zero);
  let re = m.re * n.re + m.im * n.im;
  let im = m.im * n.re - m.re * n.im;
  let whole = p_exponent - q_exponent;
  let value = C(scaled_by(re / square, whole), scaled_by(im / square, whole));

  let grows = c_isinf(a) & c_isfinite(b);
  let vanishes = c_isinf(b) & c_isfinite(a);
  let is_number = c_isfinite(a) & c_isfinite(b);
  let usual = C(
    number_or_nan(value.re, is_number | grows | vanishes),
    number_or_nan(value.im, is_number | grows | vanishes));
  let infinite = c_select(usual, C(infinite_as(re), infinite_as(im)), grows);
  let zero = C(flipped(vec4f(), sign_bits(re)), flipped(vec4f(), sign_bits(im)));
  let nearly = c_select(infinite, zero, vanishes);
  let sign = sign_bits(b.re);
  let of_zero = C(flipped(infinite_as(a.re), sign), flipped(infinite_as(a.im), sign));
  return c_select(nearly, of_zero, by_zero);
}

// Infinity times v. NaN if v is 0 or NaN.
fn infinite_as(v: vec4f) -> vec4f {
  let value = flipped(infinities(), sign_bits(v));
  return number_or_nan(value, !(is_zero(v) | are_nan(v)));
}

fn c_reciprocal(z: C) -> C {
  return c_divide(C(vec4f(1.0), vec4f()), z);
}

// z / |z|. 0 for zeros of either sign, NaN if both parts are infinite.
fn c_sign(z: C) -> C {
  let box = boxed(z);
  let m = c_scaled(box, -exponent_of_larger(box));
  let size = near_root(m.re * m.re + m.im * m.im);
  let divisor = select(size, vec4f(1.0), c_iszero(z));
  let is_number = c_isinf(z) | !c_isnan(z);
  let has_direction = is_number
    & !((size_bits(z.re) == vec4u(INFINITY)) & (size_bits(z.im) == vec4u(INFINITY)));
  return c_select(
    C(number_or_nan(m.re / divisor, has_direction), number_or_nan(m.im / divisor, has_direction)),
    C(vec4f(), vec4f()), c_iszero(z));
}
