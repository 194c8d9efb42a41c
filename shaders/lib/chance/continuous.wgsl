// Random numbers of continuous distributions. Invalid parameters give NaN.

//#include lib/chance/gamma.wgsl
//#include lib/chance/stream.wgsl
//#include lib/chance/whole.wgsl

fn drawn_gumbel(draws: ptr<function, Draws>, loc: f32, scale: f32) -> f32 {
  if (!is_counting(scale)) {
    return quiet_nan();
  }
  return loc - scale * log(drawn_exponential(draws));
}

fn drawn_laplace(draws: ptr<function, Draws>, loc: f32, scale: f32) -> f32 {
  if (!is_counting(scale)) {
    return quiet_nan();
  }
  let size = scale * drawn_exponential(draws);
  return loc + select(-size, size, (drawn_word(draws) & 1u) == 1u);
}

// ln(u / (1 - u)) for u = exp(-x).
fn drawn_logistic(draws: ptr<function, Draws>, loc: f32, scale: f32) -> f32 {
  if (!is_counting(scale)) {
    return quiet_nan();
  }
  let x = drawn_exponential(draws);
  return loc - scale * (x + log(-expm1_of(-x)));
}

fn drawn_lognormal(draws: ptr<function, Draws>, mean: f32, sigma: f32) -> f32 {
  if (!is_counting(sigma)) {
    return quiet_nan();
  }
  return exp(mean + sigma * drawn_normal(draws));
}

fn drawn_pareto(draws: ptr<function, Draws>, a: f32) -> f32 {
  if (!is_positive(a)) {
    return quiet_nan();
  }
  return expm1_of(drawn_exponential(draws) / a);
}

fn drawn_power(draws: ptr<function, Draws>, a: f32) -> f32 {
  if (!is_positive(a)) {
    return quiet_nan();
  }
  return exp(-drawn_exponential(draws) / a);
}

fn drawn_rayleigh(draws: ptr<function, Draws>, scale: f32) -> f32 {
  if (!is_counting(scale)) {
    return quiet_nan();
  }
  return scale * sqrt(2.0 * drawn_exponential(draws));
}

fn drawn_cauchy(draws: ptr<function, Draws>) -> f32 {
  let x = drawn_normal(draws);
  return x / drawn_normal(draws);
}

fn drawn_weibull(draws: ptr<function, Draws>, a: f32) -> f32 {
  if (a == 0.0) {
    return 0.0;
  }
  if (!is_positive(a)) {
    return quiet_nan();
  }
  return exp(log(drawn_exponential(draws)) / a);
}

fn drawn_triangular(draws: ptr<function, Draws>, left: f32, mode: f32, right: f32) -> f32 {
  let width = right - left;
  if (!is_positive(width) || !(left <= mode) || !(mode <= right)) {
    return quiet_nan();
  }
  let u = drawn_uniform(draws);
  if (u * width <= mode - left) {
    return left + sqrt(u * width * (mode - left));
  }
  return right - sqrt((1.0 - u) * width * (right - mode));
}

// J. R. Michael, W. R. Schucany and R. W. Haas, https://doi.org/10.1080/00031305.1976.10479147. The
// smaller root, 1 + w - sqrt(2 w + w²), as a quotient without cancellation.
fn drawn_wald(draws: ptr<function, Draws>, mean: f32, scale: f32) -> f32 {
  if (!is_positive(mean) || !is_positive(scale)) {
    return quiet_nan();
  }
  let x = drawn_normal(draws);
  let w = 0.5 * x * x * (mean / scale);
  let root = 1.0 / (1.0 + w + sqrt(w * (2.0 + w)));
  if (drawn_uniform(draws) * (1.0 + root) <= 1.0) {
    return mean * root;
  }
  return mean / root;
}

// D. J. Best and N. I. Fisher, https://doi.org/10.2307/2346732. For a large kappa, s and w are near
// 1, so s - 1 and 1 - w are computed instead.
fn drawn_vonmises(draws: ptr<function, Draws>, mu: f32, kappa: f32) -> f32 {
  if (!is_counting(kappa)) {
    return quiet_nan();
  }
  var angle = 3.1415927 * drawn_uniform(draws);
  if (kappa > 1e-5) {
    let root = sqrt(1.0 + 4.0 * kappa * kappa);
    let away = (sqrt(2.0 * (1.0 + root)) - 1.0 - 1.0 / (2.0 * kappa + root)) / (2.0 * kappa);
    let rho = 1.0 - away; // 0 for a small kappa, where no digits are left
    let above = select(
      0.5 * away * away / rho, (1.0 / kappa + kappa) - 1.0, kappa < 0.05);
    for (var i = 0u; i < MOST_TRIES; i++) {
      let turned = cos(1.5707963 * drawn_uniform(draws));
      let square = turned * turned; // (1 + z) / 2
      let below = above * 2.0 * (1.0 - square) / (above + 2.0 * square); // 1 - w
      let y = kappa * (above + below);
      let v = drawn_uniform(draws);
      angle = 2.0 * asin(min(1.0, sqrt(0.5 * below)));
      if (y * (2.0 - y) >= v || log(y / v) + 1.0 >= y) {
        break;
      }
    }
  }
  let found = mu + select(-angle, angle, (drawn_word(draws) & 1u) == 1u);
  return found - 6.2831853 * round(found / 6.2831853);
}

fn drawn_noncentral_chisquare(draws: ptr<function, Draws>, df: f32, nonc: f32) -> f32 {
  if (!is_positive(df) || !is_counting(nonc)) {
    return quiet_nan();
  }
  if (df > 1.0) {
    let x = drawn_normal(draws) + sqrt(nonc);
    return drawn_chisquare(draws, df - 1.0) + x * x;
  }
  return drawn_chisquare(draws, df + 2.0 * f32(drawn_poisson(draws, 0.5 * nonc)));
}

fn drawn_noncentral_f(draws: ptr<function, Draws>, dfnum: f32, dfden: f32, nonc: f32) -> f32 {
  if (!is_positive(dfden)) {
    return quiet_nan();
  }
  let x = drawn_noncentral_chisquare(draws, dfnum, nonc);
  return x * dfden / (drawn_chisquare(draws, dfden) * dfnum);
}
