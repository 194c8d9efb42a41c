// Random numbers of the gamma distribution and of distributions derived from it.

//#include lib/chance/stream.wgsl

// Returns (g, l): g exp(l) has the gamma distribution with shape a. For small shapes it is below
// float32's range, so some callers need ln g + l. G. Marsaglia and W. W. Tsang,
// https://doi.org/10.1145/358407.358414. As in the paper, a shape below 1 is raised by 1.
fn drawn_gamma_parts(draws: ptr<function, Draws>, a: f32) -> vec2f {
  let is_small = a < 1.0;
  let shape = select(a, a + 1.0, is_small);
  let less = select(0.0, -drawn_exponential(draws) / a, is_small);
  let d = shape - 1.0 / 3.0;
  let c = 1.0 / sqrt(9.0 * d);
  var found = d;
  for (var i = 0u; i < MOST_TRIES; i++) {
    let x = drawn_normal(draws);
    let t = c * x;
    let v = 1.0 + t;
    if (v <= 0.0) {
      continue;
    }
    found = d * v * v * v;
    // 1/2 x² + d - d v³ + 3 d ln v. For a small t, only these terms do not cancel.
    var rest = -3.0 * d * t * t * t * t * (0.25 - t * (0.2 - t * (1.0 / 6.0 - t / 7.0)));
    if (abs(t) > 0.1) {
      rest = 0.5 * x * x - d * t * (3.0 + 3.0 * t + t * t) + 3.0 * d * log1p_of(t);
    }
    if (-drawn_exponential(draws) <= rest) {
      break;
    }
  }
  return vec2f(found, less);
}

fn drawn_log_gamma(draws: ptr<function, Draws>, a: f32) -> f32 {
  if (!is_positive(a)) {
    return quiet_nan();
  }
  let parts = drawn_gamma_parts(draws, a);
  return log(parts.x) + parts.y;
}

fn drawn_gamma(draws: ptr<function, Draws>, a: f32) -> f32 {
  if (a == 0.0) {
    return 0.0;
  }
  if (!is_positive(a)) {
    return quiet_nan();
  }
  let parts = drawn_gamma_parts(draws, a);
  return parts.x * exp(parts.y);
}

fn drawn_chisquare(draws: ptr<function, Draws>, df: f32) -> f32 {
  if (!is_positive(df)) {
    return quiet_nan();
  }
  return 2.0 * drawn_gamma(draws, 0.5 * df);
}

fn drawn_beta(draws: ptr<function, Draws>, a: f32, b: f32) -> f32 {
  if (!is_positive(a) || !is_positive(b)) {
    return quiet_nan();
  }
  let x = drawn_log_gamma(draws, a);
  let y = drawn_log_gamma(draws, b);
  return 1.0 / (1.0 + exp(y - x));
}

fn drawn_f(draws: ptr<function, Draws>, dfnum: f32, dfden: f32) -> f32 {
  if (!is_positive(dfnum) || !is_positive(dfden)) {
    return quiet_nan();
  }
  let x = drawn_log_gamma(draws, 0.5 * dfnum);
  let y = drawn_log_gamma(draws, 0.5 * dfden);
  return exp(x - y) * dfden / dfnum;
}

fn drawn_standard_t(draws: ptr<function, Draws>, df: f32) -> f32 {
  if (!is_positive(df)) {
    return quiet_nan();
  }
  let x = drawn_normal(draws);
  return x * sqrt(0.5 * df) * exp(-0.5 * drawn_log_gamma(draws, 0.5 * df));
}

fn drawn_scaled_gamma(draws: ptr<function, Draws>, a: f32, scale: f32) -> f32 {
  if (!is_counting(scale)) {
    return quiet_nan();
  }
  return scale * drawn_gamma(draws, a);
}
