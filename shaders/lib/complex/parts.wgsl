// Operations on the bits of complex numbers: infinities, NaN and powers of two. A number is infinite
// if either part is infinite, even if the other part is NaN (C17 Annex G.3).

//#include lib/floats.wgsl
//#include lib/fused/complex.wgsl
//#include lib/math/bits.wgsl

fn c_isinf(z: C) -> vec4<bool> {
  return (size_bits(z.re) == vec4u(INFINITY)) | (size_bits(z.im) == vec4u(INFINITY));
}

fn c_isnan(z: C) -> vec4<bool> {
  return are_nan(z.re) | are_nan(z.im);
}

fn c_isfinite(z: C) -> vec4<bool> {
  return max(size_bits(z.re), size_bits(z.im)) < vec4u(INFINITY);
}

// Subnormal numbers count as zeros.
fn is_zero(v: vec4f) -> vec4<bool> {
  return size_bits(v) < vec4u(SMALLEST);
}

fn c_iszero(z: C) -> vec4<bool> {
  return is_zero(z.re) & is_zero(z.im);
}

fn infinities() -> vec4f {
  return vec4f(from_bits(INFINITY));
}

// v where `is_number` is set, else NaN.
fn number_or_nan(v: vec4f, is_number: vec4<bool>) -> vec4f {
  return select(vec4f(quiet_nan()), v, is_number);
}

// v 2^whole. A result of 0 keeps v's sign.
fn scaled_by(v: vec4f, whole: vec4i) -> vec4f {
  let size = size_bits(v);
  let value = times_power(bitcast<vec4f>(size), whole);
  return flipped(select(value, vec4f(), size < vec4u(SMALLEST)), sign_bits(v));
}

fn c_scaled(z: C, whole: vec4i) -> C {
  return C(scaled_by(z.re, whole), scaled_by(z.im, whole));
}

// The exponent of the larger part.
fn exponent_of_larger(z: C) -> vec4i {
  return vec4i(max(size_bits(z.re), size_bits(z.im)) >> vec4u(23u)) - vec4i(127);
}

// A finite number in the direction of an infinite one: infinite parts become ±1, other parts ±0.
// Other numbers are unchanged.
fn boxed(z: C) -> C {
  let one = vec4u(ONE);
  let re = select(vec4u(), one, size_bits(z.re) == vec4u(INFINITY)) | sign_bits(z.re);
  let im = select(vec4u(), one, size_bits(z.im) == vec4u(INFINITY)) | sign_bits(z.im);
  return c_select(z, C(bitcast<vec4f>(re), bitcast<vec4f>(im)), c_isinf(z));
}
