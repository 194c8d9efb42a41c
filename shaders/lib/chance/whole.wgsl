// Random integers of discrete distributions. Invalid parameters give NOT_DRAWN.
//
// Probabilities of large numbers are compared by the deviance (C. Loader, "Fast and Accurate
// Computation of Binomial Probabilities", 2000), since differences of log factorials would have no
// digits left in float32. Numbers are counted from the mean, which may be large.

//#include lib/chance/gamma.wgsl
//#include lib/chance/stream.wgsl

const NOT_DRAWN = i32(-2147483647 - 1);
const LARGEST_WHOLE = 2147483392.0; // the largest float32 that an i32 holds

// (1 + x) ln(1 + x) - x for x >= -1.
fn deviance(x: f32) -> f32 {
  if (abs(x) < 0.1) {
    return x * x * (0.5 - x * (1.0 / 6.0 - x * (1.0 / 12.0 - x * (0.05 - x * (1.0 / 30.0 - x / 42.0)))));
  }
  if (x <= -1.0) {
    return 1.0;
  }
  return (1.0 + x) * log1p_of(x) - x;
}

// ln k! - (k ln k - k), for an integer k.
fn factorial_rest(k: f32) -> f32 {
  if (k < 0.5) {
    return 0.0;
  }
  let rest = 0.9189385 + 0.5 * log(k);
  if (k < 1.5) {
    return 1.0;
  }
  let square = 1.0 / (k * k);
  return rest + (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square / 1680.0))) / k;
}

fn whole_from(x: f32) -> i32 {
  return i32(clamp(x, -LARGEST_WHOLE, LARGEST_WHOLE));
}

// W. Hörmann, https://doi.org/10.1016/0167-6687(93)90997-4; for small means, by counting
// exponential times.
fn drawn_poisson(draws: ptr<function, Draws>, lam: f32) -> i32 {
  if (!is_counting(lam) || lam > 2.147e9) {
    return NOT_DRAWN;
  }
  if (lam < 10.0) {
    var count = 0;
    var time = drawn_exponential(draws);
    while (time < lam && count < 1000) {
      time += drawn_exponential(draws);
      count++;
    }
    return count;
  }
  let base = floor(lam);
  let part = lam - base;
  let root = sqrt(lam);
  let b = 0.931 + 2.53 * root;
  let a = -0.059 + 0.02483 * b;
  let inverse = 1.1239 + 1.1328 / (b - 3.4);
  let limit = 0.9277 - 3.6224 / (b - 2.0);
  var away = 0.0;
  for (var i = 0u; i < MOST_TRIES; i++) {
    let u = drawn_uniform(draws) - 0.5;
    let v = drawn_uniform(draws);
    let us = 0.5 - abs(u);
    away = floor((2.0 * a / us + b) * u + part + 0.43);
    if (us >= 0.07 && v <= limit) {
      break;
    }
    if (base + away < 0.0 || (us < 0.013 && v > us)) {
      continue;
    }
    let chance = -lam * deviance((away - part) / lam) - factorial_rest(base + away);
    if (log(v * inverse / (a / (us * us) + b)) <= chance) {
      break;
    }
  }
  return max(i32(base) + whole_from(away), 0);
}

// The count of the less probable outcome: W. Hörmann's BTRS,
// https://doi.org/10.1080/00949659308811496; for small means, by waiting times between occurrences.
fn drawn_rare(draws: ptr<function, Draws>, n: i32, p: f32) -> i32 {
  if (n == 0 || p == 0.0) {
    return 0;
  }
  let trials = f32(n);
  let mean = trials * p;
  if (mean < 10.0) {
    let rate = -log1p_of(-p);
    var count = 0;
    var passed = 0.0;
    loop {
      passed += floor(drawn_exponential(draws) / rate) + 1.0;
      if (passed > trials || count > 1000) {
        break;
      }
      count++;
    }
    return count;
  }
  let q = 1.0 - p;
  let base = floor(mean);
  let part = mean - base;
  let width = sqrt(mean * q);
  let b = 1.15 + 2.53 * width;
  let a = -0.0873 + 0.0248 * b + 0.01 * p;
  let limit = 0.92 - 4.2 / b;
  let alpha = (2.83 + 5.1 / b) * width;
  let mode = floor(part + p);
  let most = rare_chance(mode, part, base, trials, p);
  var away = 0.0;
  for (var i = 0u; i < MOST_TRIES; i++) {
    let u = drawn_uniform(draws) - 0.5;
    let v = drawn_uniform(draws);
    let us = 0.5 - abs(u);
    away = floor((2.0 * a / us + b) * u + part + 0.5);
    if (base + away < 0.0 || base + away > trials) {
      continue;
    }
    if (us >= 0.07 && v <= limit) {
      break;
    }
    if (log(v * alpha / (a / (us * us) + b)) <= rare_chance(away, part, base, trials, p) - most) {
      break;
    }
  }
  return clamp(i32(base) + whole_from(away), 0, n);
}

// The log probability of base + away of n, without terms that are the same for all.
fn rare_chance(away: f32, part: f32, base: f32, trials: f32, p: f32) -> f32 {
  let mean = trials * p;
  let others = trials - mean;
  let k = base + away;
  let more = away - part;
  return -mean * deviance(more / mean) - others * deviance(-more / others)
    - factorial_rest(k) - factorial_rest(trials - k);
}

fn drawn_binomial(draws: ptr<function, Draws>, n: i32, p: f32) -> i32 {
  if (n < 0 || !is_counting(p) || p > 1.0) {
    return NOT_DRAWN;
  }
  if (p > 0.5) {
    return n - drawn_rare(draws, n, 1.0 - p);
  }
  return drawn_rare(draws, n, p);
}

fn drawn_geometric(draws: ptr<function, Draws>, p: f32) -> i32 {
  if (!is_positive(p) || p > 1.0) {
    return NOT_DRAWN;
  }
  if (p == 1.0) {
    return 1;
  }
  return whole_from(max(1.0, ceil(-drawn_exponential(draws) / log1p_of(-p))));
}

// A. W. Kemp, https://doi.org/10.2307/2346348.
fn drawn_logseries(draws: ptr<function, Draws>, p: f32) -> i32 {
  if (!is_counting(p) || p >= 1.0) {
    return NOT_DRAWN;
  }
  if (p == 0.0) {
    return 1;
  }
  let rate = log1p_of(-p);
  let v = drawn_uniform(draws);
  if (v >= p) {
    return 1;
  }
  let q = -expm1_of(rate * drawn_uniform(draws));
  if (v <= q * q) {
    return whole_from(max(1.0, floor(1.0 + log(v) / log(q))));
  }
  return select(2, 1, v >= q);
}

// L. Devroye, Non-Uniform Random Variate Generation, 1986, X.6.1, for numbers below 2^31.
fn drawn_zipf(draws: ptr<function, Draws>, a: f32) -> i32 {
  if (!is_finite(a) || a <= 1.0) {
    return NOT_DRAWN;
  }
  let less = a - 1.0;
  let b_less = expm1_of(0.6931472 * less);
  let share = expm1_of(-21.487562 * less); // for numbers below 2^31
  for (var i = 0u; i < MOST_TRIES; i++) {
    let x = clamp(floor(exp(-log1p_of(drawn_uniform(draws) * share) / less)), 1.0, LARGEST_WHOLE);
    // t = (1 + 1/x)^less; only t - 1 is needed.
    let above = expm1_of(less * log1p_of(1.0 / x));
    if (drawn_uniform(draws) * x * above * (1.0 + b_less) <= (1.0 + above) * b_less) {
      return i32(x);
    }
  }
  return 1;
}

fn drawn_negative_binomial(draws: ptr<function, Draws>, n: f32, p: f32) -> i32 {
  if (!is_positive(n) || !is_positive(p) || p > 1.0) {
    return NOT_DRAWN;
  }
  return drawn_poisson(draws, drawn_gamma(draws, n) * ((1.0 - p) / p));
}

// The number of good items among `taken`: the ratio of uniforms of E. Stadlober,
// https://doi.org/10.1007/BF01932712; small samples one by one.
fn drawn_hypergeometric(draws: ptr<function, Draws>, good: i32, bad: i32, taken: i32) -> i32 {
  if (good < 0 || bad < 0 || taken < 0 || good > 1000000000 || bad > 1000000000
    || taken > good + bad) {
    return NOT_DRAWN;
  }
  let all = good + bad;
  let sample = min(taken, all - taken); // the remaining items are drawn as well
  let fewer = min(good, bad);
  var found = 0;
  if (sample < 16) {
    var left = fewer;
    for (var i = 0; i < sample; i++) {
      left -= i32(floor(drawn_uniform(draws) + f32(left) / f32(all - i)));
    }
    found = fewer - left;
  } else {
    found = drawn_of_many(draws, fewer, all - fewer, sample);
  }
  if (good > bad) {
    found = sample - found;
  }
  if (sample < taken) {
    found = good - found;
  }
  return found;
}

fn drawn_of_many(draws: ptr<function, Draws>, fewer: i32, more: i32, sample: i32) -> i32 {
  if (fewer == 0) {
    return 0;
  }
  let all = f32(fewer) + f32(more);
  let share = f32(fewer) / all;
  let mean = f32(sample) * share;
  let base = floor(mean);
  let part = mean - base;
  let variance = (all - f32(sample)) * f32(sample) * share * (1.0 - share) / (all - 1.0);
  let width = sqrt(variance + 0.5);
  let scale = 1.7155277 * width + 0.8989162;
  let mode = floor((f32(sample) + 1.0) * (f32(fewer) + 1.0) / (all + 2.0)) - base;
  let most = sample_chance(mode, part, base, fewer, more, sample);
  let last = f32(min(sample, fewer)) - base;
  var away = 0.0;
  for (var i = 0u; i < MOST_TRIES; i++) {
    let x = drawn_uniform(draws);
    let y = drawn_uniform(draws);
    away = floor(part + 0.5 + scale * (y - 0.5) / x);
    if (away < -base || away > last || abs(away) > 16.0 * width + 1.0) {
      continue;
    }
    if (2.0 * log(x) <= sample_chance(away, part, base, fewer, more, sample) - most) {
      break;
    }
  }
  return clamp(i32(base) + whole_from(away), 0, min(sample, fewer));
}

// The log probability of base + away, without terms that are the same for all.
fn sample_chance(away: f32, part: f32, base: f32, fewer: i32, more: i32, sample: i32) -> f32 {
  let share = f32(sample) / (f32(fewer) + f32(more));
  let ours = f32(fewer) * share;
  let theirs = f32(more) * share;
  let ours_left = f32(fewer) - ours;
  let theirs_left = f32(more) - theirs;
  let beyond = away - part;
  let k = i32(base + away);
  return -ours * deviance(beyond / ours) - ours_left * deviance(-beyond / ours_left)
    - theirs * deviance(-beyond / theirs) - theirs_left * deviance(beyond / theirs_left)
    - factorial_rest(f32(k)) - factorial_rest(f32(fewer - k))
    - factorial_rest(f32(sample - k)) - factorial_rest(f32(more - sample + k));
}

// low + the upper part of 64 random bits × the span: D. Lemire, https://doi.org/10.1145/3230636.
fn drawn_integer(draws: ptr<function, Draws>, low: i32, last: i32) -> i32 {
  let upper = drawn_word(draws);
  let lower = drawn_word(draws);
  if (last < low) {
    return NOT_DRAWN;
  }
  let span = bitcast<u32>(last) - bitcast<u32>(low) + 1u;
  if (span == 0u) {
    return bitcast<i32>(upper);
  }
  let middle = upper * span;
  let sum = middle + high(lower, span);
  let found = high(upper, span) + select(0u, 1u, sum < middle);
  return bitcast<i32>(bitcast<u32>(low) + found);
}
