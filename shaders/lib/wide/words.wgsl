// Four whole numbers of 64 bits, as two words each: signed ones in two's complement.

struct Wide {
  low: vec4u,
  high: vec4u,
}

fn wide_from_words(low: vec4u, high: vec4u) -> Wide {
  return Wide(vec4u(low.xz, high.xz), vec4u(low.yw, high.yw));
}

fn wide_low_words(v: Wide) -> vec4u {
  return vec4u(v.low.x, v.high.x, v.low.y, v.high.y);
}

fn wide_high_words(v: Wide) -> vec4u {
  return vec4u(v.low.z, v.high.z, v.low.w, v.high.w);
}

fn wide_select(no: Wide, yes: Wide, which: vec4<bool>) -> Wide {
  return Wide(select(no.low, yes.low, which), select(no.high, yes.high, which));
}

fn wide_add(a: Wide, b: Wide) -> Wide {
  let low = a.low + b.low;
  return Wide(low, a.high + b.high + vec4u(low < a.low));
}

fn wide_subtract(a: Wide, b: Wide) -> Wide {
  return Wide(a.low - b.low, a.high - b.high - vec4u(a.low < b.low));
}

fn wide_negative(a: Wide) -> Wide {
  return wide_subtract(Wide(vec4u(), vec4u()), a);
}

fn wide_is_negative(a: Wide) -> vec4<bool> {
  return (a.high >> vec4u(31u)) != vec4u();
}

fn wide_size(a: Wide) -> Wide {
  return wide_select(a, wide_negative(a), wide_is_negative(a));
}

fn wide_true(a: Wide) -> vec4<bool> {
  return (a.low | a.high) != vec4u();
}

fn wide_equal(a: Wide, b: Wide) -> vec4<bool> {
  return (a.low == b.low) & (a.high == b.high);
}

fn wide_less_unsigned(a: Wide, b: Wide) -> vec4<bool> {
  return (a.high < b.high) | ((a.high == b.high) & (a.low < b.low));
}

// The sign bits are turned over: then signed numbers are ordered as unsigned ones.
fn wide_less_signed(a: Wide, b: Wide) -> vec4<bool> {
  let sign = vec4u(0x80000000u);
  return wide_less_unsigned(Wide(a.low, a.high ^ sign), Wide(b.low, b.high ^ sign));
}

fn wide_sign_signed(a: Wide) -> Wide {
  let negative = vec4u(wide_is_negative(a));
  return Wide(vec4u(wide_true(a)) | (vec4u() - negative), vec4u() - negative);
}
