// The format of a matrix from a GGUF file, and its elements if they are floats of 16 bits.

// GGUF's numbers: 1 F16, 2 Q4_0, 3 Q4_1, 6 Q5_0, 7 Q5_1, 8 Q8_0, 10 Q2_K, 11 Q3_K,
// 12 Q4_K, 13 Q5_K, 14 Q6_K, 20 IQ4_NL, 30 BF16
override FORMAT: u32 = 8u;

// The value of a float16. unpack2x16float may flush subnormal numbers, which scales often are.
fn exact_half(bits: u32) -> f32 {
  let size = bits & 0x7fffu;
  let moved = size << 13u;
  let normal = bitcast<f32>(moved + (112u << 23u));
  let finite = select(normal, bitcast<f32>(moved + (113u << 23u)) - 0x1p-14, size < 0x400u);
  let value = select(finite, bitcast<f32>(0x7f800000u | moved), size >= 0x7c00u);
  return bitcast<f32>(bitcast<u32>(value) | ((bits & 0x8000u) << 16u));
}

// Four floats of F16 or BF16.
fn four_floats(words: vec2u) -> vec4f {
  let bits = vec4u(words.x & 0xffffu, words.x >> 16u, words.y & 0xffffu, words.y >> 16u);
  if (FORMAT == 30u) {
    return bitcast<vec4f>(bits << vec4u(16u));
  }
  return vec4f(exact_half(bits.x), exact_half(bits.y), exact_half(bits.z), exact_half(bits.w));
}
