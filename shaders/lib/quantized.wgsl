// Weights of GGUF files as stored, in blocks of a format. The shader declares `blocks`. Positions in
// it are bytes, and even. Products of a scale and an integer to which a minimum is added are exact,
// so fused multiply-adds do not change a value.

// GGUF's numbers: 1 F16, 2 Q4_0, 3 Q4_1, 6 Q5_0, 7 Q5_1, 8 Q8_0, 10 Q2_K, 11 Q3_K,
// 12 Q4_K, 13 Q5_K, 14 Q6_K, 20 IQ4_NL, 30 BF16
override FORMAT: u32 = 8u;

const IQ4_VALUES = array<f32, 16>(
  -127.0, -104.0, -83.0, -65.0, -49.0, -35.0, -22.0, -10.0,
  1.0, 13.0, 25.0, 38.0, 53.0, 69.0, 89.0, 113.0,
);

// Elements of a block.
fn block_elements() -> u32 {
  switch (FORMAT) {
    case 1u, 30u: { return 4u; }
    case 10u, 11u, 12u, 13u, 14u: { return 256u; }
    default: { return 32u; }
  }
}

// Bytes of a block.
fn block_bytes() -> u32 {
  switch (FORMAT) {
    case 1u, 30u: { return 8u; }
    case 2u, 20u: { return 18u; }
    case 3u: { return 20u; }
    case 6u: { return 22u; }
    case 7u: { return 24u; }
    case 10u: { return 84u; }
    case 11u: { return 110u; }
    case 12u: { return 144u; }
    case 13u: { return 176u; }
    case 14u: { return 210u; }
    default: { return 34u; }
  }
}

fn byte_at(at: u32) -> u32 {
  return (blocks[at / 4u] >> (8u * (at % 4u))) & 0xffu;
}

// Two bytes.
fn pair_at(at: u32) -> u32 {
  return (blocks[at / 4u] >> (8u * (at & 2u))) & 0xffffu;
}

// Four bytes.
fn word_at(at: u32) -> u32 {
  let first = blocks[at / 4u];
  if ((at & 2u) == 0u) {
    return first;
  }
  return (first >> 16u) | (blocks[at / 4u + 1u] << 16u);
}

// The value of a float16. unpack2x16float may flush subnormal numbers, which scales often are.
fn exact_half(bits: u32) -> f32 {
  let size = bits & 0x7fffu;
  let normal = bitcast<f32>((size << 13u) + (112u << 23u));
  let finite = select(normal, f32(size) * 0x1p-24, size < 0x400u);
  let value = select(finite, bitcast<f32>(0x7f800000u | (size << 13u)), size >= 0x7c00u);
  return bitcast<f32>(bitcast<u32>(value) | ((bits & 0x8000u) << 16u));
}

fn half_at(at: u32) -> f32 {
  return exact_half(pair_at(at));
}

// The bytes of a word.
fn four_bytes(word: u32) -> vec4u {
  return (vec4u(word) >> vec4u(0u, 8u, 16u, 24u)) & vec4u(0xffu);
}

fn four_signed(word: u32) -> vec4i {
  return (vec4i(bitcast<i32>(word)) << vec4u(24u, 16u, 8u, 0u)) >> vec4u(24u);
}

fn signed_byte_at(at: u32) -> f32 {
  return f32(bitcast<i32>(byte_at(at) << 24u) >> 24u);
}

// Elements i to i + 3 of the block at a byte. i is a multiple of 4.
fn quad(block: u32, i: u32) -> vec4f {
  switch (FORMAT) {
    case 1u: { // F16
      let low = word_at(block);
      let high = word_at(block + 4u);
      return vec4f(
        exact_half(low & 0xffffu), exact_half(low >> 16u),
        exact_half(high & 0xffffu), exact_half(high >> 16u),
      );
    }
    case 30u: { // BF16
      let low = word_at(block);
      let high = word_at(block + 4u);
      return bitcast<vec4f>(vec4u(low << 16u, low & 0xffff0000u, high << 16u, high & 0xffff0000u));
    }
    case 2u: { // Q4_0
      let nibbles = (word_at(block + 2u + i % 16u) >> (4u * (i / 16u))) & 0x0f0f0f0fu;
      return half_at(block) * vec4f(vec4i(four_bytes(nibbles)) - vec4i(8));
    }
    case 3u: { // Q4_1
      let nibbles = (word_at(block + 4u + i % 16u) >> (4u * (i / 16u))) & 0x0f0f0f0fu;
      return half_at(block) * vec4f(four_bytes(nibbles)) + half_at(block + 2u);
    }
    case 6u: { // Q5_0
      let nibbles = (word_at(block + 6u + i % 16u) >> (4u * (i / 16u))) & 0x0f0f0f0fu;
      let numbers = four_bytes(nibbles) | fifth_bits(word_at(block + 2u) >> i);
      return half_at(block) * vec4f(vec4i(numbers) - vec4i(16));
    }
    case 7u: { // Q5_1
      let nibbles = (word_at(block + 8u + i % 16u) >> (4u * (i / 16u))) & 0x0f0f0f0fu;
      let numbers = four_bytes(nibbles) | fifth_bits(word_at(block + 4u) >> i);
      return half_at(block) * vec4f(numbers) + half_at(block + 2u);
    }
    case 10u: { // Q2_K
      let scales = byte_at(block + i / 16u);
      let numbers = two_bits(word_at(block + 16u + 32u * (i / 128u) + i % 32u), i);
      let scale = half_at(block + 80u) * f32(scales & 15u);
      return scale * numbers - half_at(block + 82u) * f32(scales >> 4u);
    }
    case 11u: { // Q3_K
      let low = two_bits(word_at(block + 32u + 32u * (i / 128u) + i % 32u), i);
      let clear = vec4u(1u) - (four_bytes(word_at(block + i % 32u) >> (i / 32u)) & vec4u(1u));
      return (half_at(block + 108u) * scale_of_q3(block + 96u, i / 16u))
        * (low - 4.0 * vec4f(clear));
    }
    case 12u: { // Q4_K
      let scales = scale_and_minimum(block + 4u, i / 32u);
      let word = word_at(block + 16u + 32u * (i / 64u) + i % 32u);
      let numbers = vec4f(four_bytes((word >> (4u * (i / 32u % 2u))) & 0x0f0f0f0fu));
      return half_at(block) * scales.x * numbers - half_at(block + 2u) * scales.y;
    }
    case 13u: { // Q5_K
      let scales = scale_and_minimum(block + 4u, i / 32u);
      let word = word_at(block + 48u + 32u * (i / 64u) + i % 32u);
      let low = four_bytes((word >> (4u * (i / 32u % 2u))) & 0x0f0f0f0fu);
      let high = four_bytes((word_at(block + 16u + i % 32u) >> (i / 32u)) & 0x01010101u);
      let numbers = vec4f(low | (high << vec4u(4u)));
      return half_at(block) * scales.x * numbers - half_at(block + 2u) * scales.y;
    }
    case 14u: { // Q6_K
      let word = word_at(block + 64u * (i / 128u) + i % 64u);
      let low = four_bytes((word >> (4u * (i / 64u % 2u))) & 0x0f0f0f0fu);
      let bits = word_at(block + 128u + 32u * (i / 128u) + i % 32u) >> (2u * (i / 32u % 4u));
      let numbers = vec4i(low | (four_bytes(bits & 0x03030303u) << vec4u(4u))) - vec4i(32);
      return half_at(block + 208u) * signed_byte_at(block + 192u + i / 16u) * vec4f(numbers);
    }
    case 20u: { // IQ4_NL
      let nibbles = (word_at(block + 2u + i % 16u) >> (4u * (i / 16u))) & 0x0f0f0f0fu;
      let at = four_bytes(nibbles);
      var values = IQ4_VALUES;
      return half_at(block) * vec4f(values[at.x], values[at.y], values[at.z], values[at.w]);
    }
    case 8u, default: { // Q8_0
      return half_at(block) * vec4f(four_signed(word_at(block + 2u + i)));
    }
  }
}

// Bit 4 of four numbers, from the lowest four bits.
fn fifth_bits(bits: u32) -> vec4u {
  return ((vec4u(bits) >> vec4u(0u, 1u, 2u, 3u)) & vec4u(1u)) << vec4u(4u);
}

// The numbers of two bits of element i of a block of 256.
fn two_bits(word: u32, i: u32) -> vec4f {
  return vec4f(four_bytes((word >> (2u * (i / 32u % 4u))) & 0x03030303u));
}

// Q3_K's scale k of 16, from 12 bytes: four bits of the first 8, two of the last 4.
fn scale_of_q3(scales: u32, k: u32) -> f32 {
  let low = (byte_at(scales + k % 8u) >> (4u * (k / 8u))) & 15u;
  let high = (byte_at(scales + 8u + k % 4u) >> (2u * (k / 4u))) & 3u;
  return f32(i32(low | (high << 4u)) - 32);
}

// The scale and the minimum k of 8 of Q4_K and Q5_K, six bits each, from 12 bytes.
fn scale_and_minimum(scales: u32, k: u32) -> vec2f {
  if (k < 4u) {
    return vec2f(vec2u(byte_at(scales + k), byte_at(scales + 4u + k)) & vec2u(63u));
  }
  let low = byte_at(scales + 4u + k);
  let high = (vec2u(byte_at(scales + k - 4u), byte_at(scales + k)) >> vec2u(2u)) & vec2u(0x30u);
  return vec2f(vec2u(low & 15u, low >> 4u) | high);
}
