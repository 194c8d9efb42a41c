// Conversions of 64-bit integers to and from other numbers.

//#include lib/floats.wgsl
//#include lib/wide/shifts.wgsl

fn wide_of_unsigned(v: vec4u) -> Long {
  return Long(v, vec4u());
}

fn wide_of_signed(v: vec4i) -> Long {
  return Long(bitcast<vec4u>(v), bitcast<vec4u>(v >> vec4u(31u)));
}

// The nearest float, ties to even.
fn wide_unsigned_float(v: Long) -> vec4f {
  let zeros = select(countLeadingZeros(v.high), vec4u(32u) + countLeadingZeros(v.low), v.high == vec4u());
  let top = wide_left(v, min(zeros, vec4u(63u))); // shifted so that the highest bit is set
  let digits = top.high >> vec4u(8u);
  let rest = top.high & vec4u(0xffu);
  let half = vec4u(0x80u);
  let is_odd = (digits & vec4u(1u)) != vec4u();
  let up = (rest > half) | ((rest == half) & ((top.low != vec4u()) | is_odd));
  // If the digits are all ones, rounding up carries into the exponent.
  let bits = ((vec4u(189u) - zeros) << vec4u(23u)) + digits + vec4u(up);
  return bitcast<vec4f>(select(vec4u(), bits, wide_true(v)));
}

fn wide_signed_float(v: Long) -> vec4f {
  let size = wide_unsigned_float(wide_size(v));
  return select(size, -size, wide_is_negative(v));
}

// A float's magnitude below 2^64, truncated.
fn wide_cut_off(v: vec4f) -> Long {
  let bits = bitcast<vec4u>(v);
  let exponent = vec4i((bits >> vec4u(23u)) & vec4u(0xffu)) - vec4i(150);
  let digits = Long((bits & vec4u(0x7fffffu)) | vec4u(0x800000u), vec4u());
  let larger = wide_left(digits, vec4u(clamp(exponent, vec4i(), vec4i(63))));
  let smaller = wide_right(digits, vec4u(clamp(-exponent, vec4i(), vec4i(63))));
  return wide_select(larger, smaller, exponent < vec4i());
}

// Clamped; NaN becomes 0.
fn wide_signed_of_float(v: vec4f) -> Long {
  let size = wide_cut_off(v);
  let cut = wide_select(size, wide_negative(size), v < vec4f());
  let inside = wide_select(cut, Long(vec4u(), vec4u()), are_nan(v));
  let most = Long(vec4u(0xffffffffu), vec4u(0x7fffffffu));
  let least = Long(vec4u(), vec4u(0x80000000u));
  let limit = 9223372036854775808.0;
  return wide_select(wide_select(inside, most, v >= vec4f(limit)), least, v <= vec4f(-limit));
}

fn wide_unsigned_of_float(v: vec4f) -> Long {
  let none = are_nan(v) | (v < vec4f());
  let inside = wide_select(wide_cut_off(v), Long(vec4u(), vec4u()), none);
  let most = Long(vec4u(0xffffffffu), vec4u(0xffffffffu));
  return wide_select(inside, most, v >= vec4f(18446744073709551616.0));
}
