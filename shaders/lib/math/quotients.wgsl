// Division, rounded as IEEE 754 asks but for rare ties: within 0.51 ULP. A quotient below 2^-126 is
// 0, and subnormal operands are zeros.

//#include lib/math/bits.wgsl
//#include lib/math/wide.wgsl

fn np_divide(p: vec4f, q: vec4f) -> vec4f {
  let p_size = size_bits(p);
  let q_size = size_bits(q);
  let exponent = vec4i(p_size >> vec4u(23u)) - vec4i(q_size >> vec4u(23u));
  let size = times_power(near_quotient(mantissa(p_size), mantissa(q_size)), exponent);

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
