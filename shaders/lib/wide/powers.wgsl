// Powers of 64-bit integers, modulo 2^64, by squaring.

//#include lib/wide/products.wgsl
//#include lib/wide/shifts.wgsl

fn wide_power_unsigned(base: Long, exponent: Long) -> Long {
  let one = Long(vec4u(1u), vec4u());
  var power = one;
  var square = base;
  var left = exponent;
  while (any(wide_true(left))) {
    power = wide_multiply(power, wide_select(one, square, (left.low & vec4u(1u)) != vec4u()));
    square = wide_multiply(square, square);
    left = wide_right(left, vec4u(1u));
  }
  return power;
}

// Negative exponents give 1 / x^n, truncated; for 0, 0.
fn wide_power_signed(base: Long, exponent: Long) -> Long {
  let zero = Long(vec4u(), vec4u());
  let one = Long(vec4u(1u), vec4u());
  let negative = wide_is_negative(exponent);
  let power = wide_power_unsigned(base, wide_select(exponent, zero, negative));
  let is_odd = (exponent.low & vec4u(1u)) != vec4u();
  let minus_one = wide_equal(base, wide_negative(one));
  let unit = wide_select(one, base, is_odd);
  let small = wide_select(zero, unit, minus_one | wide_equal(base, one));
  return wide_select(power, small, negative);
}
