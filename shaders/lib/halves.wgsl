// float16 in memory, two in a word, the first in the lower half.

//#include lib/floats.wgsl

// Element i, from the word that holds it.
fn half_of(word: u32, i: u32) -> f32 {
  return unpack2x16float(word >> (16u * (i & 1u))).x;
}

fn widened(halves: vec2u) -> vec4f {
  return vec4f(unpack2x16float(halves.x), unpack2x16float(halves.y));
}

// The halves' bits, one per word. pack2x16float does not define values beyond float16's range, nor,
// on some devices, NaN.
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

// To the nearest, ties to even, even if pack2x16float flushes float16's subnormal numbers or rounds
// them twice. Uses integers: float16's exponent is 112 less, its mantissa 13 bits shorter.
fn exact_half_bits(v: vec4f) -> vec4u {
  let bits = bitcast<vec4u>(v);
  let size = bits & vec4u(0x7fffffffu);
  let odd = (size >> vec4u(13u)) & vec4u(1u);
  let normal = (size - vec4u(112u << 23u) + vec4u(0xfffu) + odd) >> vec4u(13u);
  let finite = select(normal, half_multiples(size), size < vec4u(HALF_NORMAL));
  let ranged = select(finite, vec4u(0x7c00u), size >= vec4u(HALF_END));
  let signed = ranged | ((bits ^ size) >> vec4u(16u));
  return select(signed, vec4u(0x7e00u), size > vec4u(0x7f800000u));
}

// The same, as floats.
fn rounded_to_half(v: vec4f) -> vec4f {
  let bits = bitcast<vec4u>(v);
  let size = bits & vec4u(0x7fffffffu);
  let odd = (size >> vec4u(13u)) & vec4u(1u);
  let normal = (size + vec4u(0xfffu) + odd) & vec4u(0xffffe000u);
  let tiny = bitcast<vec4u>(vec4f(half_multiples(size)) * 0x1p-24);
  let finite = select(normal, tiny, size < vec4u(HALF_NORMAL));
  let ranged = select(finite, vec4u(0x7f800000u), finite >= vec4u(HALF_END));
  let signed = ranged | (bits ^ size);
  return bitcast<vec4f>(select(signed, vec4u(0x7fc00000u), size > vec4u(0x7f800000u)));
}

// The float32 bits of float16's smallest normal number, and of the first number beyond its largest.
const HALF_NORMAL = 0x38800000u;
const HALF_END = 0x47800000u;

// Converts a number near 0, given by its float32 bits, to multiples of float16's smallest number,
// which is one unit in the last place of 0.5.
fn half_multiples(size: vec4u) -> vec4u {
  return bitcast<vec4u>(bitcast<vec4f>(size) + vec4f(0.5)) - vec4u(0x3f000000u);
}
