// Inverse trigonometric and hyperbolic functions, within 8 ULP of their magnitude. They use W.
// Kahan's formulas ("Branch cuts for complex elementary functions", 1987) for a number in the first
// quadrant, without cancellation. asinh z = i asin (-i z) and the like exchange the parts. C17 G.6.1
// and G.6.2 define the special cases.

//#include lib/complex/parts.wgsl
//#include lib/complex/roots.wgsl
//#include lib/math/arcs.wgsl
//#include lib/math/inverse_hyperbolic.wgsl
//#include lib/math/logarithms.wgsl

// For z = |x| + i |y|: the square roots of 1 - |x| + i |y| and of 1 + |x| + i |y|, and the imaginary
// part of asin z. If z is huge, both radicands are divided by 4.
struct Arms {
  below: C,
  above: C,
  height: vec4f,
}

fn arms_of(z: C) -> Arms {
  let is_huge = max(abs(z.re), abs(z.im)) > vec4f(1e30); // adding 1 has no effect
  let scale = select(vec4f(1.0), vec4f(0.25), is_huge);
  let x = abs(z.re) * scale;
  let y = abs(z.im) * scale;
  let below = c_sqrt(C(1.0 - x, y));
  let above = c_sqrt(C(1.0 + x, y));
  let height = np_asinh(below.re * above.im + below.im * above.re);
  return Arms(below, above, height + select(vec4f(), vec4f(1.3862944), is_huge)); // ln 4
}

// The angle of |x| + i |y| from the real axis.
fn slope(z: C) -> vec4f {
  return np_atan2(abs(z.im), abs(z.re));
}

fn c_asin(z: C) -> C {
  let arms = arms_of(z);
  let along = arms.below.re * arms.above.re + arms.below.im * arms.above.im;
  let is_huge = max(abs(z.re), abs(z.im)) > vec4f(1e30);
  let x = abs(z.re) * select(vec4f(1.0), vec4f(0.25), is_huge);
  let angle = np_atan2(x, along);
  let is_number = !c_isnan(z);
  let re = select(number_or_nan(angle, is_number), np_atan2(abs(z.re), abs(z.im)), c_isinf(z));
  let im = select(number_or_nan(arms.height, is_number), infinities(), c_isinf(z));
  return C(
    flipped(select(re, vec4f(), is_zero(z.re) & are_nan(z.im)), sign_bits(z.re)),
    flipped(im, sign_bits(z.im)));
}

// The angle comes from the two roots; `above` and `below` are exchanged with the sign of x.
fn c_acos(z: C) -> C {
  let arms = arms_of(z);
  let is_left = sign_bits(z.re) != vec4u();
  let first = select(arms.below.re, arms.above.re, is_left);
  let second = select(arms.above.re, arms.below.re, is_left);
  let angle = 2.0 * np_atan2(first, second);
  let is_number = !c_isnan(z);
  let infinite = np_atan2(abs(z.im), z.re);
  let re = select(number_or_nan(angle, is_number), infinite, c_isinf(z));
  let im = select(number_or_nan(arms.height, is_number), infinities(), c_isinf(z));
  let upright = is_zero(z.re) & are_nan(z.im);
  return C(
    select(re, vec4f(1.5707964), upright), flipped(im, sign_bits(z.im) ^ vec4u(0x80000000u)));
}

fn c_asinh(z: C) -> C {
  let value = c_asin(C(z.im, z.re));
  return C(value.im, value.re);
}

// ± i acos z, with a nonnegative real part.
fn c_acosh(z: C) -> C {
  let value = c_acos(z);
  return C(abs(value.im), flipped(value.re, sign_bits(z.im)));
}

// ln (1 + 4 x / ((1 - x)² + y²)) / 4 and half the angle of ((1 - x) (1 + x) - y², 2 y).
fn c_atanh(z: C) -> C {
  let x = abs(z.re);
  let y = abs(z.im);
  let larger = max(x, y);
  let is_huge = larger > vec4f(1e9); // 1 / z + i π / 2
  let p = select(x, vec4f(), is_huge);
  let q = select(y, vec4f(), is_huge);
  let less = 1.0 - p;
  let square = less * less + q * q;
  let is_pole = square < vec4f(1e-30); // 1 + i y, whose y² would be 0
  let divisor = select(square, vec4f(1.0), is_pole);
  let usual = 0.25 * log1p_from(4.0 * p / divisor, vec4f());
  let near_pole = -0.5 * log_times(max(q, vec4f(1.1754944e-38)), vec4f(-1.0));
  let ratio = min(x, y) / max(larger, vec4f(1.0));
  let along = select(ratio, vec4f(1.0), x >= y);
  let huge = along / (min(larger, vec4f(1e37)) * (1.0 + ratio * ratio));
  let half = 0.5 * np_atan2(2.0 * q, less * (1.0 + p) - q * q);
  var re = select(select(usual, near_pole, is_pole), huge, is_huge);
  var im = select(half, vec4f(1.5707964), is_huge);

  re = select(re, infinities(), is_pole & is_zero(z.im));
  let is_number = !c_isnan(z);
  let stays = is_zero(z.re) & are_nan(z.im);
  re = select(number_or_nan(re, is_number), vec4f(), c_isinf(z) | stays);
  im = number_or_nan(im, is_number);
  im = select(im, number_or_nan(vec4f(1.5707964), !are_nan(z.im)), c_isinf(z));
  return C(flipped(re, sign_bits(z.re)), flipped(im, sign_bits(z.im)));
}

fn c_atan(z: C) -> C {
  let value = c_atanh(C(z.im, z.re));
  return C(value.im, value.re);
}
