// Division, rounded as in IEEE 754 except for rare ties: within 0.51 ULP. A quotient below 2^-126
// is 0, and subnormal operands count as zeros. Steps that few operands need are in branches, which
// threads without such operands skip.

//#include lib/math/bits.wgsl
//#include lib/math/wide.wgsl

fn np_divide(p: vec4f, q: vec4f) -> vec4f {
  let are_plain = are_moderate(p) && are_moderate(q);
  var a = p;
  var b = q;
  if (!are_plain) {
    a = mantissa(size_bits(p));
    b = mantissa(size_bits(q));
  }
  var quotient = near_quotient(a, b);
  if (!are_plain) {
    quotient = quotient_of_any(quotient, p, q);
  }
  return quotient;
}

// Whether all sizes are from 2^-50 to 2^50.
fn are_moderate(v: vec4f) -> bool {
  let above = (bitcast<vec4u>(v) << vec4u(1u)) - vec4u(MODERATE); // the sign is shifted out
  return max(max(above.x, above.y), max(above.z, above.w)) <= MODERATE_SPAN;
}

const MODERATE = 0x4d000000u; // the bits of 2^-50 without the sign bit
const MODERATE_SPAN = 0x64000000u; // distance from MODERATE to the bits of 2^50

// p / q by the quotient of their mantissas.
fn quotient_of_any(digits: vec4f, p: vec4f, q: vec4f) -> vec4f {
  let p_size = size_bits(p);
  let q_size = size_bits(q);
  let exponent = vec4i(p_size >> vec4u(23u)) - vec4i(q_size >> vec4u(23u));
  let size = times_power(digits, exponent);

  let is_p_zero = p_size < vec4u(SMALLEST);
  let is_q_zero = q_size < vec4u(SMALLEST);
  let is_p_infinite = p_size == vec4u(INFINITY);
  let is_q_infinite = q_size == vec4u(INFINITY);
  var bits = select(bitcast<vec4u>(size), vec4u(), is_p_zero | is_q_infinite);
  bits = select(bits, vec4u(INFINITY), is_q_zero | is_p_infinite);
  let is_open = (is_p_zero & is_q_zero) | (is_p_infinite & is_q_infinite);
  let is_nan = is_open | (max(p_size, q_size) > vec4u(INFINITY));
  bits = select(bits, vec4u(NAN), is_nan);
  return bitcast<vec4f>(bits | (sign_bits(p) ^ sign_bits(q)));
}

fn np_reciprocal(v: vec4f) -> vec4f {
  return np_divide(vec4f(1.0), v);
}
