// Arithmetic beyond float32's 24 bits, with numbers of 12 bits whose products are exact. Results
// then do not depend on whether a compiler fuses a product and a sum. lib/kept.wgsl prevents
// reordering of sums.

//#include lib/kept.wgsl

// The first 12 of 24 bits: the product of two such values is exact.
fn short(v: vec4f) -> vec4f {
  return bitcast<vec4f>(bitcast<vec4u>(v) & vec4u(0xfffff000u));
}

// p / q within 0.51 ULP, where WGSL guarantees 2.5, for p = 0 and magnitudes from 2^-50 to 2^50.
// With a guess of 12 bits, the remainder of p has few digits. It is exact except for its last bits,
// and the reciprocal is accurate enough for it.
fn near_quotient(p: vec4f, q: vec4f) -> vec4f {
  let reciprocal = 1.0 / q;
  let guess = short(p * reciprocal);
  let high = short(q);
  let low = kept(q - high);
  let rest = kept(p - guess * high) - guess * low;
  return guess + rest * reciprocal;
}

// The root of v within 0.51 ULP, where WGSL guarantees 4.5, for v = 0 and from 2^-70 on. The
// remainder of v for a guess of 12 bits is exact, and root - guess = (v - guess²) / (root + guess).
fn near_root(v: vec4f) -> vec4f {
  let root = sqrt(v);
  let guess = short(root);
  return guess + (v - guess * guess) * (1.0 / max(root + guess, vec4f(1e-30)));
}
