// Functions of floats that WGSL lacks, or has with other special values than NumPy.

//#include lib/floats.wgsl

fn are_infinite(v: vec4f) -> vec4<bool> {
  return (bitcast<vec4u>(v) & vec4u(0x7fffffffu)) == vec4u(0x7f800000u);
}

fn are_finite(v: vec4f) -> vec4<bool> {
  return (bitcast<vec4u>(v) & vec4u(0x7fffffffu)) < vec4u(0x7f800000u);
}

fn copysign(size: vec4f, sign: vec4f) -> vec4f {
  let bits = (bitcast<vec4u>(size) & vec4u(0x7fffffffu)) | (bitcast<vec4u>(sign) & vec4u(0x80000000u));
  return bitcast<vec4f>(bits);
}

fn maximum(a: vec4f, b: vec4f) -> vec4f {
  return select(select(max(a, b), b, are_nan(b)), a, are_nan(a));
}

fn minimum(a: vec4f, b: vec4f) -> vec4f {
  return select(select(min(a, b), b, are_nan(b)), a, are_nan(a));
}

fn sign_of(v: vec4f) -> vec4f {
  return select(sign(v), v, are_nan(v));
}

fn square_root(v: vec4f) -> vec4f {
  return select(sqrt(v), vec4f(quiet_nan()), v < vec4f());
}

// As CPython has them: the remainder has the divisor's sign, the quotient is a whole number.
fn remainder(a: vec4f, b: vec4f) -> vec4f {
  let rest = truncated_remainder(a, b);
  let other_sign = (rest != vec4f()) & ((rest < vec4f()) != (b < vec4f()));
  let found = select(copysign_of_zero(rest, b), rest + b, other_sign);
  let wrong = are_nan(a) | are_nan(b) | are_infinite(a) | (b == vec4f());
  return select(found, vec4f(quiet_nan()), wrong);
}

fn copysign_of_zero(v: vec4f, sign: vec4f) -> vec4f {
  return select(v, copysign(v, sign), v == vec4f());
}

fn floor_divide(a: vec4f, b: vec4f) -> vec4f {
  let rest = remainder(a, b);
  let quotient = round((a - rest) / b);
  let plain = a / b;
  let special = are_infinite(a) | (b == vec4f()) | are_infinite(b);
  let of_infinity = select(floor(plain), vec4f(quiet_nan()), are_infinite(a));
  let found = select(copysign_of_zero(quotient, plain), of_infinity, special);
  return select(found, a + b, are_nan(a) | are_nan(b));
}

// a - b trunc(a / b), exactly: the binary digits of the quotient one after the other, from that of
// the exponents' difference on.
fn truncated_remainder(a: vec4f, b: vec4f) -> vec4f {
  return vec4f(
    remainder_of_one(a.x, b.x), remainder_of_one(a.y, b.y),
    remainder_of_one(a.z, b.z), remainder_of_one(a.w, b.w));
}

fn remainder_of_one(a: f32, b: f32) -> f32 {
  let sign = bitcast<u32>(a) & 0x80000000u;
  let x = bitcast<u32>(a) & 0x7fffffffu;
  let y = bitcast<u32>(b) & 0x7fffffffu;
  if (x < y || y < 0x00800000u || x >= 0x7f800000u || y > 0x7f800000u) {
    return a;
  }
  var rest = (x & 0x7fffffu) | 0x800000u;
  let divisor = (y & 0x7fffffu) | 0x800000u;
  var left = (x >> 23u) - (y >> 23u);
  loop {
    if (rest >= divisor) {
      rest -= divisor;
    }
    if (left == 0u || rest == 0u) {
      break;
    }
    rest <<= 1u;
    left -= 1u;
  }
  if (rest == 0u) {
    return bitcast<f32>(sign);
  }
  let shift = countLeadingZeros(rest) - 8u;
  let exponent = y >> 23u;
  if (shift >= exponent) { // below the smallest normal number
    return bitcast<f32>(sign | (rest << (exponent - 1u)));
  }
  return bitcast<f32>(sign | ((exponent - shift) << 23u) | ((rest << shift) & 0x7fffffu));
}
