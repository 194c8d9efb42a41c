// Inverse hyperbolic functions, by ln (1 + t) for a t that keeps its digits: within 2 ULP, acosh
// within 2.5.

//#include lib/floats.wgsl
//#include lib/kept.wgsl
//#include lib/math/bits.wgsl
//#include lib/math/logarithms.wgsl
//#include lib/math/wide.wgsl

const LARGE = 16384.0; // from here on, asinh v and acosh v are ln 2v

// t = v + v² / (1 + sqrt(1 + v²)).
fn np_asinh(v: vec4f) -> vec4f {
  let size = abs(v);
  let bounded = min(size, vec4f(LARGE));
  let square = bounded * bounded;
  let more = near_quotient(square, 1.0 + near_root(1.0 + square));
  let t = kept(bounded + more);
  let near = log1p_from(t, more - kept(t - bounded));
  let far = log_times(max(size, vec4f(1.0)), vec4f(1.0));
  let value = flipped(select(near, far, size > vec4f(LARGE)), sign_bits(v));
  return select(value, v, size_bits(v) >= vec4u(INFINITY));
}

// t = sqrt(2 w + w²) + w for w = v - 1.
fn np_acosh(v: vec4f) -> vec4f {
  let w = clamp(v, vec4f(1.0), vec4f(LARGE)) - 1.0;
  let root = near_root(2.0 * w + w * w);
  let t = kept(root + w);
  let near = log1p_from(t, w - kept(t - root));
  let far = log_times(max(v, vec4f(1.0)), vec4f(1.0));
  let value = select(near, far, v > vec4f(LARGE));
  let with_infinity = select(value, v, size_bits(v) >= vec4u(INFINITY));
  return select(with_infinity, vec4f(quiet_nan()), v < vec4f(1.0));
}

// t = 2 v / (1 - v), halved; below 2^-30 that is 2 v.
fn np_atanh(v: vec4f) -> vec4f {
  let size = abs(v);
  let bounded = min(size, vec4f(0.99999994));
  let below = kept(1.0 - bounded);
  let lost = kept(1.0 - below) - bounded;
  let quotient = near_quotient(2.0 * bounded, below);
  let t = select(quotient, 2.0 * bounded, bounded < vec4f(0x1p-30));
  // Where 1 - v is larger by `lost`, t is smaller by t lost / (1 - v); and 1 / (1 - v) = 1 + t / 2.
  let value = 0.5 * log1p_from(t, -t * lost * (1.0 + 0.5 * t));
  let with_one = select(value, vec4f(from_bits(INFINITY)), size == vec4f(1.0));
  let is_outside = size_bits(v) > vec4u(ONE);
  return select(flipped(with_one, sign_bits(v)), vec4f(quiet_nan()), is_outside);
}
