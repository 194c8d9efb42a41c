// Inverse hyperbolic functions, by ln (1 + t) for a t that keeps its digits. Who includes this has
// params.n, below 2^31: see lib/kept.wgsl.

//#include lib/floats.wgsl
//#include lib/math/bits.wgsl
//#include lib/math/logarithms.wgsl
//#include lib/math/wide.wgsl

const LARGE = 16384.0; // from here on, asinh v and acosh v are ln 2v

// t = v + v² / (1 + sqrt(1 + v²)).
fn np_asinh(v: vec4f) -> vec4f {
  let size = abs(v);
  let bounded = min(size, vec4f(LARGE));
  let square = bounded * bounded;
  let near = log1p_from(bounded + near_quotient(square, 1.0 + near_root(1.0 + square)));
  let far = log_times(max(size, vec4f(1.0)), vec4f(1.0));
  let value = flipped(select(near, far, size > vec4f(LARGE)), sign_bits(v));
  return select(value, v, size_bits(v) >= vec4u(INFINITY));
}

// t = w + sqrt(w (w + 2)) for w = v - 1.
fn np_acosh(v: vec4f) -> vec4f {
  let w = clamp(v, vec4f(1.0), vec4f(LARGE)) - 1.0;
  let near = log1p_from(w + near_root(w * (w + 2.0)));
  let far = log_times(max(v, vec4f(1.0)), vec4f(1.0));
  let value = select(near, far, v > vec4f(LARGE));
  let with_infinity = select(value, v, size_bits(v) >= vec4u(INFINITY));
  return select(with_infinity, vec4f(quiet_nan()), v < vec4f(1.0));
}

// t = 2 v / (1 - v), halved.
fn np_atanh(v: vec4f) -> vec4f {
  let size = abs(v);
  let bounded = min(size, vec4f(0.99999994));
  let value = 0.5 * log1p_from(near_quotient(2.0 * bounded, 1.0 - bounded));
  let with_one = select(value, vec4f(from_bits(INFINITY)), size == vec4f(1.0));
  let is_outside = size_bits(v) > vec4u(ONE);
  return select(flipped(with_one, sign_bits(v)), vec4f(quiet_nan()), is_outside);
}
