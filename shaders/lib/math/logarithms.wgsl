// Logarithms, within 1 ULP. Subnormal numbers count as zeros.

//#include lib/floats.wgsl
//#include lib/kept.wgsl
//#include lib/math/bits.wgsl
//#include lib/math/exponentials.wgsl
//#include lib/math/wide.wgsl
//#include lib/math/wide_log2.wgsl

// v = 2^whole (1 + fraction) for normal v > 0, with 1 + fraction between the roots of 1/2 and of 2.
struct Logarithm {
  whole: vec4f,
  fraction: vec4f,
}

fn logarithm_of(v: vec4f) -> Logarithm {
  let root = vec4i(0x3f3504f3); // the bits of sqrt(1/2)
  let above = bitcast<vec4i>(v) - root;
  let m = bitcast<vec4f>((above & vec4i(0x007fffff)) + root);
  return Logarithm(vec4f(above >> vec4u(23u)), m - 1.0);
}

// ln (2^whole (1 + f)) + more, with a small `more`: the polynomial of Cephes' logf.c. The term of
// 2^whole is whole times the first 9 bits of ln 2, which is exact, minus a small remainder.
fn log_from(whole: vec4f, f: vec4f, more: vec4f) -> vec4f {
  let square = f * f;
  let series = 3.3333331174e-1 + f * (-2.4999993993e-1 + f * (2.0000714765e-1
    + f * (-1.6668057665e-1 + f * (1.4249322787e-1 + f * (-1.2420140846e-1
    + f * (1.1676998740e-1 + f * (-1.1514610310e-1 + f * 7.0376836292e-2)))))));
  let small = f * square * series + (more - whole * 0.00021219444);
  return (f + kept(small - 0.5 * square)) + whole * 0.693359375;
}

// ln (v 2^doubled) for normal v > 0.
fn log_times(v: vec4f, doubled: vec4f) -> vec4f {
  let logarithm = logarithm_of(v);
  return log_from(logarithm.whole + doubled, logarithm.fraction, vec4f());
}

// The logarithm to any base of zeros, negative numbers, infinity and NaN; else `value`.
fn log_or_special(v: vec4f, value: vec4f) -> vec4f {
  let size = size_bits(v);
  var bits = select(bitcast<vec4u>(value), size, size >= vec4u(INFINITY));
  bits = select(bits, vec4u(NAN), sign_bits(v) != vec4u());
  return bitcast<vec4f>(select(bits, vec4u(0xff800000u), size < vec4u(SMALLEST)));
}

fn np_log(v: vec4f) -> vec4f {
  var value = log_times(v, vec4f());
  // The distance of the bits from those of 2^-126. For smaller and negative numbers it wraps to a
  // large one.
  let above = bitcast<vec4u>(v) - vec4u(SMALLEST);
  if (max(max(above.x, above.y), max(above.z, above.w)) >= INFINITY - SMALLEST) {
    value = log_or_special(v, value);
  }
  return value;
}

// ln (1 + v + rest) for finite v > -1 and a rest that v has no digits for. Near 0 the fraction is v
// itself. Elsewhere, the lost digits of 1 + v and the rest are added by the derivative.
fn log1p_from(v: vec4f, rest: vec4f) -> vec4f {
  let sum = kept(1.0 + v);
  let logarithm = logarithm_of(sum);
  let lost = select(1.0 - kept(sum - v), v - kept(sum - 1.0), v < vec4f(1.0));
  let is_near = logarithm.whole == vec4f();
  let fraction = select(logarithm.fraction, v, is_near);
  return log_from(logarithm.whole, fraction, (select(lost, vec4f(), is_near) + rest) / sum);
}

fn np_log1p(v: vec4f) -> vec4f {
  let is_number = (v > vec4f(-1.0)) & (size_bits(v) < vec4u(INFINITY));
  let value = log1p_from(select(vec4f(1.0), v, is_number), vec4f());
  // The sign of 0 is lost there.
  var bits = size_bits(value) | sign_bits(v);
  bits = select(select(vec4u(NAN), vec4u(0xff800000u), v == vec4f(-1.0)), bits, is_number);
  return bitcast<vec4f>(select(bits, bitcast<vec4u>(v), bitcast<vec4u>(v) == vec4u(INFINITY)));
}

// Within 0.51 ULP, as is log10: powers of the base have whole logarithms.
fn np_log2(v: vec4f) -> vec4f {
  let log2 = wide_log2(v);
  return log_or_special(v, log2.high + log2.low);
}

fn np_log10(v: vec4f) -> vec4f {
  let log2 = wide_log2(v);
  // log10 2 as 12 bits, whose product with 12 others is exact, and the rest.
  let small = log2.high * 4.605039e-6 + log2.low * 0.30103;
  return log_or_special(v, log2.high * 0.301025390625 + small);
}

// ln (e^p + e^q) = m + ln (1 + e^-|p - q|) for the larger one, m. If the two terms almost cancel,
// the error is 1.5 ULP of m.
fn np_logaddexp(p: vec4f, q: vec4f) -> vec4f {
  let larger = max(p, q);
  let value = larger + log1p_from(exp_accurate(-abs(p - q)), vec4f());
  // If m is infinite, the difference may be NaN.
  let with_infinity = select(value, larger, size_bits(larger) == vec4u(INFINITY));
  return select(with_infinity, vec4f(quiet_nan()), are_nan(p) | are_nan(q));
}
