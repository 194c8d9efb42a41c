// float16 in memory, two in a word, the first in the lower half.

//#include lib/floats.wgsl

// Element i, from the word that holds it.
fn half_of(word: u32, i: u32) -> f32 {
  return unpack2x16float(word >> (16u * (i & 1u))).x;
}

fn widened(halves: vec2u) -> vec4f {
  return vec4f(unpack2x16float(halves.x), unpack2x16float(halves.y));
}

// The halves' bits, one in a word. pack2x16float leaves values beyond float16's range open, and
// NaN on some devices.
fn half_bits(v: vec4f) -> vec4u {
  let inside = clamp(v, vec4f(-65504.0), vec4f(65504.0));
  let low = pack2x16float(inside.xy);
  let high = pack2x16float(inside.zw);
  let finite = vec4u(low & 0xffffu, low >> 16u, high & 0xffffu, high >> 16u);
  let infinite = select(vec4u(0x7c00u), vec4u(0xfc00u), v < vec4f(0.0));
  // From 65520 on, float16 rounds to infinity.
  let ranged = select(finite, infinite, abs(v) >= vec4f(65520.0));
  return select(ranged, vec4u(0x7e00u), are_nan(v));
}

fn narrowed(v: vec4f) -> vec2u {
  let bits = half_bits(v);
  return bits.xz | (bits.yw << vec2u(16u));
}

// To the nearest, also where pack2x16float flushes float16's subnormal numbers, which are multiples
// of 2^-24, or rounds them twice.
fn exact_half_bits(v: vec4f) -> vec4u {
  let multiple = vec4u(round(min(abs(v), vec4f(65504.0)) * 16777216.0));
  let tiny = multiple | select(vec4u(), vec4u(0x8000u), bitcast<vec4u>(v) >= vec4u(0x80000000u));
  return select(half_bits(v), tiny, (multiple < vec4u(1024u)) & !are_nan(v));
}
