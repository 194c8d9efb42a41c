// The gamma function and related functions. The polynomials are Chebyshev interpolations of t from
// -1 to 1.

//#include lib/floats.wgsl
//#include lib/special/exact.wgsl

// ln Γ(x) / ((x - 1) (x - 2)) for x = 1.75 + 0.75 t.
fn gammaln_near(t: f32) -> f32 {
  return 0.450139314 + t * (-0.0896111876 + t * (0.0250427499 + t * (-0.00803847052
    + t * (0.00277693174 + t * (-0.00100224582 + t * (0.000372697454 + t * (-0.000143736339
    + t * (5.542699e-05 + t * (-1.7827766e-05 + t * (6.97609221e-06 + t * (-5.78401432e-06
    + t * (2.31790068e-06))))))))))));
}

// Γ(x) for x = 1.5 + 0.5 t.
fn gamma_near(t: f32) -> f32 {
  return 0.886226952 + t * (0.0161691885 + t * (0.103701897 + t * (-0.0134113617
    + t * (0.0090519283 + t * (-0.00242646341 + t * (0.000884158246 + t * (-0.000286337367
    + t * (0.000135028502 + t * (-4.5015684e-05)))))))));
}

// sin(π x), accurate also for x near an integer.
fn sin_of_turns(x: f32) -> f32 {
  let whole = round(x);
  let found = exact_sin(3.14159265 * (x - whole));
  return select(found, -found, is_odd(whole));
}

fn is_odd(whole: f32) -> bool {
  return whole - 2.0 * floor(0.5 * whole) == 1.0;
}

fn special_gammaln(x: f32) -> f32 {
  if ((bitcast<u32>(x) & 0x7fffffffu) >= 0x7f800000u) { // NaN, or infinite
    return x;
  }
  if (x <= 0.0) {
    if (floor(x) == x) {
      return infinity();
    }
    return exact_log(3.14159265 / abs(x * sin_of_turns(x))) - gammaln_above(-x);
  }
  return gammaln_above(x);
}

// For x > 0.
fn gammaln_above(x: f32) -> f32 {
  if (x < 1.0) {
    return gammaln_between(x + 1.0) - exact_log(x);
  }
  if (x < 2.5) {
    return gammaln_between(x);
  }
  if (x < 8.0) {
    var product = 1.0;
    var rest = x;
    while (rest >= 2.5) {
      rest -= 1.0;
      product *= rest;
    }
    return gammaln_between(rest) + exact_log(product);
  }
  let series = (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / (1260.0 * x * x)) / (x * x)) / x;
  return x * (exact_log(x) - 1.0) - 0.5 * exact_log(x) + (0.91893853 + series);
}

fn gammaln_between(x: f32) -> f32 {
  return (x - 1.0) * (x - 2.0) * gammaln_near((x - 1.75) / 0.75);
}

fn special_gamma(x: f32) -> f32 {
  if (is_nan(x)) {
    return x;
  }
  if (x == 0.0) {
    return bitcast<f32>(bitcast<u32>(infinity()) | (bitcast<u32>(x) & 0x80000000u));
  }
  if (x < 0.0) {
    if (floor(x) == x) {
      return quiet_nan();
    }
    // Γ(x) = -π / (x sin(π x) Γ(-x))
    return -3.14159265 / (x * sin_of_turns(x)) / gamma_above(-x);
  }
  return gamma_above(x);
}

fn gamma_above(x: f32) -> f32 {
  if (x > 35.1) {
    return infinity();
  }
  var factor = 1.0;
  var rest = x;
  while (rest > 2.0) {
    rest -= 1.0;
    factor *= rest;
  }
  while (rest < 1.0) {
    factor /= rest;
    rest += 1.0;
  }
  return factor * gamma_near(2.0 * rest - 3.0);
}

fn special_rgamma(x: f32) -> f32 {
  if (is_nan(x)) {
    return x;
  }
  if (is_gamma_pole(x)) {
    return 0.0;
  }
  return 1.0 / special_gamma(x);
}

// ψ(x): x is raised to 6, from where the asymptotic series is accurate.
fn special_digamma(x: f32) -> f32 {
  if (is_nan(x)) {
    return x;
  }
  if (is_gamma_pole(x)) {
    return select(quiet_nan(), -infinity(), x == 0.0);
  }
  var rest = x;
  var less = 0.0;
  if (x < 0.0) {
    // ψ(x) = ψ(1 - x) - π / tan(π x)
    let part = x - round(x);
    less = 3.14159265 * exact_cos(3.14159265 * part) / exact_sin(3.14159265 * part);
    rest = 1.0 - x;
  }
  while (rest < 6.0) {
    less += 1.0 / rest;
    rest += 1.0;
  }
  let q = 1.0 / (rest * rest);
  let series = 0.5 / rest + q * (1.0 / 12.0 - q * (1.0 / 120.0 - q * (1.0 / 252.0 - q / 240.0)));
  return exact_log(rest) - series - less;
}

// The derivative of order n of ψ, for whole n from 1 to 100.
fn special_polygamma(n: f32, x: f32) -> f32 {
  if (is_nan(x)) {
    return x;
  }
  let sign = select(-1.0, 1.0, is_odd(n));
  if (is_gamma_pole(x)) {
    return sign * infinity(); // the limit from above, as in SciPy
  }
  if (x > 3e38) { // infinity
    return 0.0;
  }
  if (x > 0.0) {
    return sign * hurwitz_above(n, x);
  }
  // The terms of the sum that have negative numbers are a difference of two sums.
  let part = x - floor(x);
  let below = hurwitz_above(n, ceil(x) - x) - hurwitz_above(n, 1.0 - x);
  return sign * hurwitz_above(n, part) + below;
}

// n! (1 / xⁿ⁺¹ + 1 / (x + 1)ⁿ⁺¹ + …) for x > 0, by the Euler-Maclaurin formula.
fn hurwitz_above(n: f32, x: f32) -> f32 {
  var sum = 0.0;
  var rest = x;
  while (rest < 6.0 + 0.5 * n) {
    sum += factorial_over_power(n, rest);
    rest += 1.0;
  }
  let lead = factorial_over_power(n - 1.0, rest);
  let q = 1.0 / (rest * rest);
  let third = (n + 1.0) / rest;
  let fifth = third * (n + 2.0) * (n + 3.0) * q;
  let series = 0.5 + third / 12.0 - fifth / 720.0
    + fifth * (n + 4.0) * (n + 5.0) * q / 30240.0;
  return sum + lead + lead * n / rest * series;
}

// n! / xⁿ⁺¹
fn factorial_over_power(n: f32, x: f32) -> f32 {
  var found = 1.0 / x;
  for (var i = 1.0; i <= n; i += 1.0) {
    found *= i / x;
  }
  return found;
}

fn is_gamma_pole(x: f32) -> bool {
  return x <= 0.0 && floor(x) == x;
}

// If a or b is a pole of Γ, |B(a, b)| = B(1 - a - b, b) with a as the pole. The result is x, the
// first of these arguments, and y, which is b. x is 0 if B(a, b) is infinite.
fn beta_beside_pole(a: f32, b: f32) -> vec2f {
  let other = select(a, b, is_gamma_pole(a));
  let rest = 1.0 - select(b, a, is_gamma_pole(a)) - other;
  let is_finite = floor(other) == other && other > 0.0 && rest > 0.0;
  return vec2f(select(0.0, rest, is_finite), other);
}

// ln |B(a, b)|, and the sign of B(a, b).
fn betaln_and_sign(a: f32, b: f32) -> vec2f {
  if (is_nan(a) || is_nan(b)) {
    return vec2f(quiet_nan(), 1.0);
  }
  var given = vec2f(a, b);
  var sign = 1.0;
  if (is_gamma_pole(a) || is_gamma_pole(b)) {
    given = beta_beside_pole(a, b);
    if (given.x == 0.0) {
      return vec2f(infinity(), 1.0);
    }
    sign = select(1.0, -1.0, is_odd(given.y));
  } else {
    sign = sign_of_gamma(a) * sign_of_gamma(b) * sign_of_gamma(a + b);
  }
  return vec2f(betaln_of(given.x, given.y), sign);
}

fn special_betaln(a: f32, b: f32) -> f32 {
  return betaln_and_sign(a, b).x;
}

// Products of special_gamma lose fewer digits, but lavapipe takes minutes to compile them.
fn special_beta(a: f32, b: f32) -> f32 {
  let found = betaln_and_sign(a, b);
  return found.y * exact_exp(found.x);
}

// For large positive numbers, only the small remainders of the terms do not cancel.
fn betaln_of(a: f32, b: f32) -> f32 {
  let low = min(a, b);
  let high = max(a, b);
  if (low <= 0.0 || high < 8.0) {
    return special_gammaln(a) + special_gammaln(b) - special_gammaln(a + b);
  }
  let sum = low + high;
  let rests = stirling_rest(high) - stirling_rest(sum);
  // ln Γ(high) - ln Γ(sum)
  let ratio = (high - 0.5) * exact_log1p(-low / sum) - low * (exact_log(sum) - 1.0) + rests;
  return special_gammaln(low) + ratio;
}

fn stirling_rest(x: f32) -> f32 {
  return (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / (1260.0 * x * x)) / (x * x)) / x;
}

fn sign_of_gamma(x: f32) -> f32 {
  return select(1.0, -1.0, x < 0.0 && is_odd(floor(x)));
}

fn special_sinc(x: f32) -> f32 {
  if (x == 0.0) {
    return 1.0;
  }
  return sin_of_turns(x) / (3.14159265 * x);
}
