// Integers as in NumPy. Quotients are rounded towards minus infinity, and division by 0 gives 0.
// Shifts by 32 bits or more push all bits out.

fn floor_divide_signed(a: vec4i, b: vec4i) -> vec4i {
  let divisor = select(b, vec4i(1), b == vec4i());
  let quotient = a / divisor; // the smallest number divided by -1 is itself, as in NumPy
  let rest = a - quotient * divisor;
  let inexact = (rest != vec4i()) & ((rest < vec4i()) != (divisor < vec4i()));
  return select(quotient - select(vec4i(), vec4i(1), inexact), vec4i(), b == vec4i());
}

fn remainder_signed(a: vec4i, b: vec4i) -> vec4i {
  let divisor = select(b, vec4i(1), b == vec4i());
  let rest = a - (a / divisor) * divisor;
  let other_sign = (rest != vec4i()) & ((rest < vec4i()) != (divisor < vec4i()));
  return rest + select(vec4i(), divisor, other_sign);
}

fn floor_divide_unsigned(a: vec4u, b: vec4u) -> vec4u {
  return select(a / max(b, vec4u(1u)), vec4u(), b == vec4u());
}

fn remainder_unsigned(a: vec4u, b: vec4u) -> vec4u {
  return select(a % max(b, vec4u(1u)), vec4u(), b == vec4u());
}

fn shift_left_unsigned(a: vec4u, by: vec4u) -> vec4u {
  return select(a << (by & vec4u(31u)), vec4u(), by > vec4u(31u));
}

fn shift_left_signed(a: vec4i, by: vec4i) -> vec4i {
  return bitcast<vec4i>(shift_left_unsigned(bitcast<vec4u>(a), bitcast<vec4u>(by)));
}

fn shift_right_unsigned(a: vec4u, by: vec4u) -> vec4u {
  return select(a >> (by & vec4u(31u)), vec4u(), by > vec4u(31u));
}

fn shift_right_signed(a: vec4i, by: vec4i) -> vec4i {
  return a >> min(bitcast<vec4u>(by), vec4u(31u));
}

// By squaring, modulo 2^32.
fn power_unsigned(base: vec4u, exponent: vec4u) -> vec4u {
  var power = vec4u(1u);
  var square = base;
  var left = exponent;
  while (any(left != vec4u())) {
    power *= select(vec4u(1u), square, (left & vec4u(1u)) != vec4u());
    square *= square;
    left >>= vec4u(1u);
  }
  return power;
}

// Negative exponents give 1 / x^n, truncated; for 0, 0.
fn power_signed(base: vec4i, exponent: vec4i) -> vec4i {
  let power = power_unsigned(bitcast<vec4u>(base), vec4u(max(exponent, vec4i())));
  let is_odd = (exponent & vec4i(1)) != vec4i();
  let of_minus_one = select(vec4i(1), vec4i(-1), is_odd);
  let small = select(vec4i(), select(of_minus_one, vec4i(1), base == vec4i(1)), abs(base) == vec4i(1));
  return select(bitcast<vec4i>(power), small, exponent < vec4i());
}
