// Floats by the parts of their bits: sign, magnitude, exponent.

const ONE = 0x3f800000u; // the bits of 1, of infinity and of a NaN
const INFINITY = 0x7f800000u;
const NAN = 0x7fc00000u;
const SMALLEST = 0x00800000u; // the bits of 2^-126; smaller numbers are subnormal and may be 0
const FRACTION = 0x007fffffu;

fn size_bits(v: vec4f) -> vec4u {
  return bitcast<vec4u>(v) & vec4u(0x7fffffffu);
}

fn sign_bits(v: vec4f) -> vec4u {
  return bitcast<vec4u>(v) & vec4u(0x80000000u);
}

// v, negated if `sign` is negative.
fn flipped(v: vec4f, sign: vec4u) -> vec4f {
  return bitcast<vec4f>(bitcast<vec4u>(v) ^ sign);
}

// The number in [1, 2) with the same mantissa.
fn mantissa(bits: vec4u) -> vec4f {
  return bitcast<vec4f>((bits & vec4u(FRACTION)) | vec4u(ONE));
}

// v 2^whole for normal v > 0: infinite from 2^128 on, 0 below 2^-126.
fn times_power(v: vec4f, whole: vec4i) -> vec4f {
  let bits = bitcast<vec4i>(v) + (whole << vec4u(23u));
  let exponent = (bitcast<vec4i>(v) >> vec4u(23u)) + whole;
  let above = select(bits, vec4i(0), exponent < vec4i(1));
  return bitcast<vec4f>(select(above, vec4i(0x7f800000), exponent > vec4i(254)));
}
