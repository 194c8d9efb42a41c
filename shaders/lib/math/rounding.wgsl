// Rounding to integers; a result of zero keeps the sign. WGSL's functions are exact, but need not
// support infinities and NaN.

//#include lib/math/bits.wgsl

// `rounded` with the sign of v; v itself from 2^23 on, where all floats are integers.
fn whole_of(v: vec4f, rounded: vec4f) -> vec4f {
  let is_whole = size_bits(v) >= vec4u(0x4b000000u);
  let with_sign = bitcast<vec4u>(rounded) | sign_bits(v);
  return bitcast<vec4f>(select(with_sign, bitcast<vec4u>(v), is_whole));
}

fn np_floor(v: vec4f) -> vec4f {
  return whole_of(v, floor(v));
}

fn np_ceil(v: vec4f) -> vec4f {
  return whole_of(v, ceil(v));
}

fn np_trunc(v: vec4f) -> vec4f {
  return whole_of(v, trunc(v));
}

// Half to even.
fn np_round(v: vec4f) -> vec4f {
  return whole_of(v, round(v));
}
