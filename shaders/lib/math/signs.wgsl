// Functions of signs and bits: exact, also for subnormal numbers and NaN.

//#include lib/floats.wgsl
//#include lib/math/bits.wgsl

fn np_isnan(v: vec4f) -> vec4<bool> {
  return are_nan(v);
}

fn np_isinf(v: vec4f) -> vec4<bool> {
  return size_bits(v) == vec4u(INFINITY);
}

fn np_isfinite(v: vec4f) -> vec4<bool> {
  return size_bits(v) < vec4u(INFINITY);
}

fn np_signbit(v: vec4f) -> vec4<bool> {
  return sign_bits(v) != vec4u();
}

fn np_copysign(v: vec4f, sign: vec4f) -> vec4f {
  return bitcast<vec4f>(size_bits(v) | sign_bits(sign));
}

// -1, 0 or 1; NaN for NaN.
fn np_sign(v: vec4f) -> vec4f {
  let of_numbers = select(sign_bits(v) | vec4u(ONE), vec4u(), size_bits(v) == vec4u());
  return bitcast<vec4f>(select(of_numbers, bitcast<vec4u>(v), are_nan(v)));
}

// The order of floats, as integers; zeros of both signs are 0.
fn rank_of(v: vec4f) -> vec4i {
  let size = bitcast<vec4i>(size_bits(v));
  return select(size, -size, np_signbit(v));
}

// The next float after v in the direction of `goal`, as in C's nextafter.
fn np_nextafter(v: vec4f, goal: vec4f) -> vec4f {
  let here = rank_of(v);
  let there = rank_of(goal);
  let next = here + select(vec4i(-1), vec4i(1), there > here);
  let size = bitcast<vec4u>(abs(next));
  // 0 is reached with the sign of v.
  let is_negative = (next < vec4i()) | ((next == vec4i()) & np_signbit(v));
  let moved = size | select(vec4u(), vec4u(0x80000000u), is_negative);
  let value = select(moved, bitcast<vec4u>(goal), here == there);
  return bitcast<vec4f>(select(value, vec4u(NAN), are_nan(v) | are_nan(goal)));
}
