// e^v and related functions. Results below 2^-126 are 0.

//#include lib/floats.wgsl
//#include lib/kept.wgsl
//#include lib/math/bits.wgsl

// (e^z - 1 - z) / z² for |z| < 0.35: the Taylor series, which is exact to 2^-27 of z.
fn exp_series(z: vec4f) -> vec4f {
  return 0.5 + z * (0.16666667 + z * (0.041666668 + z * (0.008333334
    + z * (0.0013888889 + z * 0.0001984127))));
}

// v = whole ln 2 + rest + lost. whole times the first 9 bits of ln 2 is exact.
struct Exponent {
  whole: vec4f,
  rest: vec4f,
  lost: vec4f, // digits that `rest` cannot hold
}

fn exponent_of(v: vec4f) -> Exponent {
  let bounded = clamp(v, vec4f(-300.0), vec4f(300.0)); // beyond 104 it is 0, or infinite
  let whole = round(bounded * 1.442695);
  let large = kept(bounded - whole * 0.693359375);
  let rest = large + whole * 0.00021219444;
  return Exponent(whole, rest, whole * 0.00021219444 - kept(kept(rest) - large));
}

// e^v 2^doubled within 1.2 ULP, whereas the built-in exp may be off by 2 |v| ULP. Not for NaN.
fn exp_times(v: vec4f, doubled: i32) -> vec4f {
  let exponent = exponent_of(v);
  let rest = exponent.rest;
  let power = 1.0 + (rest + rest * rest * exp_series(rest));
  return times_power(power, vec4i(exponent.whole) + doubled);
}

fn exp_accurate(v: vec4f) -> vec4f {
  return exp_times(v, 0);
}

// e^v by exp_times' steps: near 1.5 2^23, a float's last bits are an integer. Steps that few
// operands need are in branches, which threads without such operands skip.
fn np_exp(v: vec4f) -> vec4f {
  let size = size_bits(v);
  let are_plain = max(max(size.x, size.y), max(size.z, size.w)) <= 0x42ae0000u; // the bits of 87
  var bounded = v;
  if (!are_plain) {
    bounded = clamp(v, vec4f(-300.0), vec4f(300.0));
  }
  let beside = kept(bounded * 1.442695 + 12582912.0);
  let whole = beside - 12582912.0;
  let rest = kept(bounded - whole * 0.693359375) + whole * 0.00021219444;
  let digits = 1.0 + (rest + rest * rest * exp_series(rest));
  var power = bitcast<vec4f>(bitcast<vec4u>(digits) + (bitcast<vec4u>(beside) << vec4u(23u)));
  if (!are_plain) {
    power = select(times_power(digits, vec4i(whole)), v, are_nan(v));
  }
  return power;
}

// Within 2 ULP. e^v - 1 = 2^whole (e^rest - 1) + (2^whole - 1), which keeps its digits for small v.
// From 2^26 on, the 1 has no effect, and below 2^-26, v is the result.
fn np_expm1(v: vec4f) -> vec4f {
  let exponent = exponent_of(v);
  let rest = exponent.rest;
  let less = rest + (exponent.lost + rest * rest * exp_series(rest));
  let power = times_power(vec4f(1.0), vec4i(clamp(exponent.whole, vec4f(-26.0), vec4f(26.0))));
  let near = power * less + kept(power - 1.0);
  let value = select(near, exp_accurate(v), exponent.whole > vec4f(26.0));
  let bounded = select(value, vec4f(-1.0), v < vec4f(-18.0));
  // The sign of 0 is lost above.
  let signed_value = bitcast<vec4f>(size_bits(bounded) | sign_bits(v));
  return select(signed_value, v, are_nan(v));
}
