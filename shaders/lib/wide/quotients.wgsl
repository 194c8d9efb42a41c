// Quotients of 64-bit integers as in NumPy: rounded towards minus infinity; division by 0 gives 0.

//#include lib/wide/words.wgsl

struct WideQuotient {
  quotient: Long,
  rest: Long,
}

// Long division, bit by bit. Both results are 0 if b is 0.
fn wide_divided(a: Long, b: Long) -> WideQuotient {
  var quotient = Long(vec4u(), vec4u());
  var rest = Long(vec4u(), vec4u());
  var left = a;
  for (var n = 0u; n < 64u; n++) {
    // If a bit is shifted out of the remainder, it is greater than any divisor.
    let beyond = wide_is_negative(rest);
    rest = wide_add(rest, rest);
    rest.low |= left.high >> vec4u(31u);
    left = wide_add(left, left);
    let fits = beyond | !wide_less_unsigned(rest, b);
    rest = wide_select(rest, wide_subtract(rest, b), fits);
    quotient = wide_add(quotient, quotient);
    quotient.low |= vec4u(fits);
  }
  let some = wide_true(b);
  let zero = Long(vec4u(), vec4u());
  return WideQuotient(wide_select(zero, quotient, some), wide_select(zero, rest, some));
}

fn wide_floor_divide_unsigned(a: Long, b: Long) -> Long {
  return wide_divided(a, b).quotient;
}

fn wide_remainder_unsigned(a: Long, b: Long) -> Long {
  return wide_divided(a, b).rest;
}

fn wide_floor_divide_signed(a: Long, b: Long) -> Long {
  let found = wide_divided(wide_size(a), wide_size(b));
  let turned = wide_is_negative(a) != wide_is_negative(b);
  let inexact = Long(vec4u(wide_true(found.rest)), vec4u());
  let below = wide_negative(wide_add(found.quotient, inexact));
  return wide_select(found.quotient, below, turned);
}

// With the divisor's sign.
fn wide_remainder_signed(a: Long, b: Long) -> Long {
  let found = wide_divided(wide_size(a), wide_size(b)).rest;
  let rest = wide_select(found, wide_negative(found), wide_is_negative(a));
  let turned = (wide_is_negative(a) != wide_is_negative(b)) & wide_true(rest);
  return wide_select(rest, wide_add(rest, b), turned);
}
