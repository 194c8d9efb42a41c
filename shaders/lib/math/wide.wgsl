// Arithmetic beyond float32's 24 bits, by numbers of 12 bits whose products are exact: whether a
// compiler makes a product and a sum one operation is then the same. lib/kept.wgsl keeps it from
// reordering sums.

//#include lib/kept.wgsl

// The first 12 of 24 bits: the product of two such values is exact.
fn short(v: vec4f) -> vec4f {
  return bitcast<vec4f>(bitcast<vec4u>(v) & vec4u(0xfffff000u));
}

// p - x y for an x y that is p but for a few ULP: exact, where no part of it is subnormal.
fn rest_of(p: vec4f, x: vec4f, y: vec4f) -> vec4f {
  let x_high = short(x);
  let x_low = kept(x - x_high);
  let y_high = short(y);
  let y_low = kept(y - y_high);
  let largest = kept(p - x_high * y_high);
  return kept(kept(largest - x_high * y_low) - x_low * y_high) - x_low * y_low;
}

// p / q within 0.51 ULP, where WGSL promises 2.5, for sizes from 2^-30 to 2^30.
fn near_quotient(p: vec4f, q: vec4f) -> vec4f {
  let reciprocal = 1.0 / q;
  let guess = kept(p * reciprocal);
  return guess + rest_of(p, guess, q) * reciprocal;
}

// The root of v within 0.51 ULP, where WGSL promises 4.5, for v from 2^-30 to 2^30, and of 0.
fn near_root(v: vec4f) -> vec4f {
  let guess = kept(sqrt(v));
  return guess + rest_of(v, guess, guess) * (0.5 / max(guess, vec4f(1e-30)));
}
