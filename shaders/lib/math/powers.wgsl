// Powers by logarithms and exponentials with more digits than float32. Results below 2^-126 are 0,
// and subnormal operands count as zeros.

//#include lib/floats.wgsl
//#include lib/kept.wgsl
//#include lib/math/bits.wgsl
//#include lib/math/exponentials.wgsl
//#include lib/math/wide.wgsl
//#include lib/math/wide_log2.wgsl

// ln 2 as 12 bits and the rest.
const LN_2 = 0.693115234375;
const LN_2_REST = 3.194618329871446e-05;

// 2^(p.high + p.low), which is infinite from 2^128 on and 0 below 2^-126; p.high may be any number.
fn exp2_of(high: vec4f, low: vec4f) -> vec4f {
  let whole = round(clamp(high + low, vec4f(-300.0), vec4f(300.0)));
  let difference = kept(high - whole);
  let part = short(difference + low);
  let part_rest = low - kept(part - difference);
  // e^z for z = part ln 2, |z| < 0.35: 1 + its first 24 bits, exactly, and the rest.
  let z_high = part * LN_2;
  let z_low = part_rest * 0.6931472 + part * LN_2_REST;
  let z = z_high + z_low;
  let rest = z * z * exp_series(z);
  let top = kept(1.0 + z_high);
  let power = top + (kept(z_high - kept(top - 1.0)) + (z_low + rest));
  return times_power(power, vec4i(whole));
}

// Within 0.8 ULP, and exact for integers.
fn np_exp2(v: vec4f) -> vec4f {
  let bounded = clamp(v, vec4f(-300.0), vec4f(300.0));
  let high = short(bounded);
  return select(exp2_of(high, bounded - high), v, are_nan(v));
}

// Within 0.9 ULP. The special cases are those of C's pow (C17 F.10.4.4), as in NumPy, detected by
// bits.
fn np_pow(base: vec4f, exponent: vec4f) -> vec4f {
  let magnitude = bitcast<vec4u>(base) & vec4u(0x7fffffffu);
  let size = bitcast<vec4u>(exponent) & vec4u(0x7fffffffu);
  let is_zero = magnitude < vec4u(0x00800000u);
  let is_infinite = magnitude == vec4u(0x7f800000u);
  let is_negative = bitcast<vec4u>(base) >= vec4u(0x80000000u);
  let falls = bitcast<vec4u>(exponent) >= vec4u(0x80000000u);
  let is_large = size >= vec4u(0x4b800000u); // from 2^24 on all numbers are even, or infinite
  // An exponent beyond 2^33 overflows or underflows for every base but 1.
  let bounded = clamp(exponent, vec4f(-8589934592.0), vec4f(8589934592.0));
  let small = select(bounded, vec4f(), is_large);
  let is_whole = is_large | (floor(small) == small);
  let is_odd = is_whole & ((vec4i(small) & vec4i(1)) == vec4i(1));

  let special = is_zero | is_infinite;
  let positive = bitcast<vec4f>(select(magnitude, vec4u(0x3f800000u), special));
  let log2 = wide_log2(positive);
  let short_exponent = short(bounded);
  let low = (bounded - short_exponent) * log2.high + bounded * log2.low;
  var result = bitcast<vec4u>(exp2_of(short_exponent * log2.high, low));

  result = select(result, select(vec4u(), vec4u(0x7f800000u), is_zero == falls), special);
  result |= select(vec4u(), vec4u(0x80000000u), is_negative & is_odd);
  result = select(result, vec4u(0x7fc00000u), is_negative & !special & !is_whole);
  result = select(result, bitcast<vec4u>(exponent), size > vec4u(0x7f800000u));
  result = select(result, bitcast<vec4u>(base), magnitude > vec4u(0x7f800000u));
  let is_one = (size < vec4u(0x00800000u)) | (bitcast<vec4u>(base) == vec4u(0x3f800000u));
  // A base of -1 has the magnitude 1, whose logarithm is 0. This holds for infinite powers too.
  return bitcast<vec4f>(select(result, vec4u(0x3f800000u), is_one));
}
