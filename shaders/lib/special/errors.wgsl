// The error function and related functions, the normal distribution function, and their inverses.
// The polynomials are Chebyshev interpolations of t from -1 to 1.

//#include lib/floats.wgsl
//#include lib/special/exact.wgsl

// erf(x) / x for x² = (t + 1) / 2.
fn erf_near(t: f32) -> f32 {
  return 0.965468764 + t * (-0.1405361 + t * (0.0198524967 + t * (-0.0022854195
    + t * (0.000217513545 + t * (-1.76690683e-05 + t * (1.23060545e-06))))));
}

// x exp(x²) erfc(x) for 1 / x = (t + 1) / 2.
fn erfcx_far(t: f32) -> f32 {
  return 0.510791361 + t * (-0.0836055055 + t * (-0.00915968884 + t * (0.0148703223
    + t * (-0.00678069005 + t * (0.0013277221 + t * (0.000560393149 + t * (-0.000810572354
    + t * (0.000632037059 + t * (-0.000186431746 + t * (-0.000156834998 + t * (0.000101469828)))))))))));
}

fn special_erf(x: f32) -> f32 {
  if (is_nan(x)) {
    return x;
  }
  if (abs(x) < 1.0) {
    return x * erf_near(2.0 * x * x - 1.0);
  }
  let rest = special_erfc(abs(x));
  return select(1.0 - rest, rest - 1.0, x < 0.0);
}

fn np_erf(v: vec4f) -> vec4f {
  return vec4f(special_erf(v.x), special_erf(v.y), special_erf(v.z), special_erf(v.w));
}

fn special_erfc(x: f32) -> f32 {
  if (is_nan(x)) {
    return x;
  }
  let size = abs(x);
  if (size < 1.0) {
    // For x near 1, the digits of erfc matter: it is 0.157 there.
    return 1.0 - x * erf_near(2.0 * x * x - 1.0);
  }
  let tail = exp_of_square(-1.0, min(size, 15.0)) * erfcx_far(2.0 / size - 1.0) / size;
  return select(tail, 2.0 - tail, x < 0.0);
}

fn special_erfcx(x: f32) -> f32 {
  if (is_nan(x)) {
    return x;
  }
  if (x < -9.5) {
    return infinity();
  }
  if (x < 1.0) {
    return exp_of_square(1.0, x) * special_erfc(x);
  }
  return erfcx_far(2.0 / x - 1.0) / x;
}

fn special_ndtr(x: f32) -> f32 {
  if (is_nan(x)) {
    return x;
  }
  let z = 0.70710678 * abs(x);
  if (z < 1.0) {
    return 0.5 + 0.5 * 0.70710678 * x * erf_near(x * x - 1.0);
  }
  let tail = 0.5 * exp_of_square(-0.5, min(abs(x), 20.0)) * erfcx_far(2.0 / z - 1.0) / z;
  return select(tail, 1.0 - tail, x > 0.0);
}

fn special_log_ndtr(x: f32) -> f32 {
  if (is_nan(x)) {
    return x;
  }
  if (x > -1.0) {
    return exact_log1p(-special_ndtr(-x));
  }
  let z = -0.70710678 * x;
  return -0.5 * x * x + exact_log(0.5 * special_erfcx(z));
}

// M. Giles, "Approximating the erfinv function", GPU Computing Gems, 2010.
fn special_erfinv(y: f32) -> f32 {
  if (is_nan(y) || abs(y) > 1.0) {
    return quiet_nan();
  }
  if (abs(y) == 1.0) {
    return y * infinity();
  }
  return y * inverse_factor(-exact_log1p(-y * y));
}

// erfinv(y) / y for w = -ln(1 - y²).
fn inverse_factor(w: f32) -> f32 {
  if (w < 5.0) {
    let t = w - 2.5;
    return 1.50140941 + t * (0.246640727 + t * (-0.00417768164 + t * (-0.00125372503
      + t * (0.00021858087 + t * (-4.39150654e-6 + t * (-3.5233877e-6 + t * (3.43273939e-7
      + t * 2.81022636e-8)))))));
  }
  let t = sqrt(w) - 3.0;
  return 2.83297682 + t * (1.00167406 + t * (0.00943887047 + t * (-0.0076224613
    + t * (0.00573950773 + t * (-0.00367342844 + t * (0.00134934322 + t * (0.000100950558
    - t * 0.000200214257)))))));
}

// The quantile of the normal distribution: from erfinv(2 p - 1) in the middle, else by Newton's
// method for the logarithm of p, which is nearly a parabola.
fn special_ndtri(p: f32) -> f32 {
  if (is_nan(p) || p < 0.0 || p > 1.0) {
    return quiet_nan();
  }
  if (p == 0.0 || p == 1.0) {
    return select(infinity(), -infinity(), p == 0.0);
  }
  if (p > 0.02) {
    let y = 2.0 * p - 1.0;
    return 1.41421356 * y * inverse_factor(-exact_log(4.0 * p * (1.0 - p)));
  }
  let wanted = exact_log(p);
  var x = -sqrt(-2.0 * (wanted + 0.9189385 + 0.5 * log(-2.0 * wanted)));
  for (var i = 0; i < 4; i++) {
    // d ln Φ(x) / dx = sqrt(2 / π) / erfcx(-x / sqrt(2))
    let slope = 0.79788456 / special_erfcx(-0.70710678 * x);
    x -= (special_log_ndtr(x) - wanted) / slope;
  }
  return x;
}

fn special_erfcinv(y: f32) -> f32 {
  return -0.70710678 * special_ndtri(0.5 * y);
}
