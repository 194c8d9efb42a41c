// Four 64-bit integers, as two words each; signed ones in two's complement.

struct Long {
  low: vec4u,
  high: vec4u,
}

fn wide_from_words(low: vec4u, high: vec4u) -> Long {
  return Long(vec4u(low.xz, high.xz), vec4u(low.yw, high.yw));
}

fn wide_low_words(v: Long) -> vec4u {
  return vec4u(v.low.x, v.high.x, v.low.y, v.high.y);
}

fn wide_high_words(v: Long) -> vec4u {
  return vec4u(v.low.z, v.high.z, v.low.w, v.high.w);
}

fn wide_select(no: Long, yes: Long, which: vec4<bool>) -> Long {
  return Long(select(no.low, yes.low, which), select(no.high, yes.high, which));
}

fn wide_add(a: Long, b: Long) -> Long {
  let low = a.low + b.low;
  return Long(low, a.high + b.high + vec4u(low < a.low));
}

fn wide_subtract(a: Long, b: Long) -> Long {
  return Long(a.low - b.low, a.high - b.high - vec4u(a.low < b.low));
}

fn wide_negative(a: Long) -> Long {
  return wide_subtract(Long(vec4u(), vec4u()), a);
}

fn wide_is_negative(a: Long) -> vec4<bool> {
  return (a.high >> vec4u(31u)) != vec4u();
}

fn wide_size(a: Long) -> Long {
  return wide_select(a, wide_negative(a), wide_is_negative(a));
}

fn wide_true(a: Long) -> vec4<bool> {
  return (a.low | a.high) != vec4u();
}

fn wide_equal(a: Long, b: Long) -> vec4<bool> {
  return (a.low == b.low) & (a.high == b.high);
}

fn wide_less_unsigned(a: Long, b: Long) -> vec4<bool> {
  return (a.high < b.high) | ((a.high == b.high) & (a.low < b.low));
}

// With inverted sign bits, signed numbers have the order of unsigned ones.
fn wide_less_signed(a: Long, b: Long) -> vec4<bool> {
  let sign = vec4u(0x80000000u);
  return wide_less_unsigned(Long(a.low, a.high ^ sign), Long(b.low, b.high ^ sign));
}

fn wide_sign_signed(a: Long) -> Long {
  let negative = vec4u(wide_is_negative(a));
  return Long(vec4u(wide_true(a)) | (vec4u() - negative), vec4u() - negative);
}
