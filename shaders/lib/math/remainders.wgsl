// Quotient and remainder by long division of integers: exact, however far apart the operands are.

//#include lib/floats.wgsl
//#include lib/math/bits.wgsl
//#include lib/math/quotients.wgsl

// Magnitudes as integers: digits 2^(exponent - 150). Subnormal numbers have fewer than 24 digits.
struct Whole {
  digits: vec4u,
  exponent: vec4u,
}

fn whole_parts(size: vec4u) -> Whole {
  let is_normal = size >= vec4u(SMALLEST);
  let leading = select(vec4u(), vec4u(SMALLEST), is_normal);
  return Whole((size & vec4u(FRACTION)) | leading, max(size >> vec4u(23u), vec4u(1u)));
}

struct Division {
  steps: vec4i, // difference of the exponents of dividend and divisor
  quotient: vec4u, // of magnitudes: the last 32 bits
  rest: vec4u, // the bits of a magnitude
}

// Divides p by q, which is not 0. Each turn takes eight digits of the dividend: at most 32 turns,
// and one if the quotient is below 256.
fn divided(p: vec4f, q: vec4f) -> Division {
  let dividend = whole_parts(size_bits(p));
  let divisor = whole_parts(size_bits(q));
  let steps = vec4i(dividend.exponent) - vec4i(divisor.exponent);
  var quotient = dividend.digits / divisor.digits;
  var rest = dividend.digits - quotient * divisor.digits;
  var left = steps;
  while (any(left > vec4i())) {
    let digits = vec4u(clamp(left, vec4i(), vec4i(8)));
    let taken = rest << digits;
    let next = taken / divisor.digits;
    quotient = (quotient << digits) + next;
    rest = taken - next * divisor.digits;
    left -= vec4i(8);
  }
  // The remainder as a float. firstLeadingBit(0) is 2^32 - 1, so a remainder of 0 is a special
  // case.
  let shift = min(vec4u(23u) - firstLeadingBit(rest), divisor.exponent - vec4u(1u));
  let bits = (rest << shift) + ((divisor.exponent - vec4u(1u) - shift) << vec4u(23u));
  let is_smaller = steps < vec4i();
  return Division(
    steps,
    select(quotient, vec4u(), is_smaller),
    select(select(bits, vec4u(), rest == vec4u()), size_bits(p), is_smaller));
}

// Floor of the quotient. For an infinite operand or q = 0 it is the quotient itself, as in the
// Array API standard (Python and NumPy make inf // 2 NaN, and 1 // -inf -1). Beyond 2^24, where all
// floats are integers, it is the quotient too.
fn np_floor_divide(p: vec4f, q: vec4f) -> vec4f {
  let division = divided(p, q);
  let sign = sign_bits(p) ^ sign_bits(q);
  let is_rounded = (division.rest != vec4u()) & (sign != vec4u());
  let size = vec4f(division.quotient + select(vec4u(), vec4u(1u), is_rounded));
  let is_special = (max(size_bits(p), size_bits(q)) >= vec4u(INFINITY)) | (size_bits(q) == vec4u());
  return select(flipped(size, sign), np_divide(p, q), is_special | (division.steps > vec4i(24)));
}

// The remainder with the sign of q, as in Python's %.
fn np_remainder(p: vec4f, q: vec4f) -> vec4f {
  let rest = divided(p, q).rest;
  let differs = sign_bits(p) != sign_bits(q);
  let of_q = bitcast<vec4f>(rest | sign_bits(q));
  let turned = select(q - of_q, q, size_bits(q) == vec4u(INFINITY));
  let value = select(of_q, turned, differs & (rest != vec4u()));
  let is_nan = (size_bits(p) >= vec4u(INFINITY)) | (size_bits(q) > vec4u(INFINITY))
    | (size_bits(q) == vec4u());
  return select(value, vec4f(quiet_nan()), is_nan);
}
