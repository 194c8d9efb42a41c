// Random numbers of one element, as many as its distribution needs. The counter includes the
// element's index and the block's, so no two elements share a word.

//#include lib/floats.wgsl
//#include lib/philox_rounds.wgsl

// Maximum tries of a rejection method. Each is accepted with a probability of at least 1/2.
const MOST_TRIES = 200u;

struct Draws {
  key: vec2u,
  element: u32,
  taken: u32, // words
  block: vec4u,
}

fn draws_of(key0: u32, key1: u32, element: u32) -> Draws {
  return Draws(vec2u(key0, key1), element, 0u, vec4u());
}

fn drawn_word(draws: ptr<function, Draws>) -> u32 {
  let taken = (*draws).taken;
  if ((taken & 3u) == 0u) {
    (*draws).block = philox(vec4u(taken >> 2u, (*draws).element, 0u, 0u), (*draws).key);
  }
  (*draws).taken = taken + 1u;
  return (*draws).block[taken & 3u];
}

// An odd multiple of 2^-24: more than 0 and less than 1.
fn drawn_uniform(draws: ptr<function, Draws>) -> f32 {
  return (f32(drawn_word(draws) >> 9u) + 0.5) * 0x1p-23f;
}

// -ln u for an odd multiple u of 2^-33. Near u = 1, the digits of 1 - u matter.
fn drawn_exponential(draws: ptr<function, Draws>) -> f32 {
  let word = drawn_word(draws);
  if (word > 0x80000000u) {
    return -log1p_of(-(f32(~word) + 0.5) * 0x1p-32f);
  }
  return -log((f32(word) + 0.5) * 0x1p-32f);
}

// One of the two numbers of Box and Muller, https://doi.org/10.1214/aoms/1177706645.
fn drawn_normal(draws: ptr<function, Draws>) -> f32 {
  let radius = sqrt(2.0 * drawn_exponential(draws));
  return radius * cos(6.2831853 * drawn_uniform(draws));
}

// ln(1 + x) for x > -1, also near 0.
fn log1p_of(x: f32) -> f32 {
  if (abs(x) > 0.25) {
    return log(1.0 + x);
  }
  let z = x / (2.0 + x);
  let square = z * z;
  return 2.0 * z * (1.0 + square * (1.0 / 3.0 + square * (0.2 + square * (1.0 / 7.0 + square / 9.0))));
}

// exp(x) - 1, also near 0.
fn expm1_of(x: f32) -> f32 {
  if (abs(x) > 0.25) {
    return exp(x) - 1.0;
  }
  return x * (1.0 + x * (0.5 + x * (1.0 / 6.0 + x * (1.0 / 24.0 + x * (1.0 / 120.0 + x / 720.0)))));
}

fn is_finite(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) < 0x7f800000u;
}

// Whether x is a finite number above 0.
fn is_positive(x: f32) -> bool {
  return is_finite(x) && x > 0.0;
}

// Whether x is a finite number of at least 0.
fn is_counting(x: f32) -> bool {
  return is_finite(x) && x >= 0.0;
}
