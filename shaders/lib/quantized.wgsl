// Weights of GGUF files as stored, in blocks of a format. The shader declares `blocks`. Positions in
// it are bytes, and even. Products of a scale and an integer to which a minimum is added are exact,
// so fused multiply-adds do not change a value.

//#include lib/quantized_floats.wgsl

// IQ4_NL's 16 numbers, as signed bytes.
const IQ4_VALUES = array<u32, 4>(0xbfad9881u, 0xf6eaddcfu, 0x26190d01u, 0x71594535u);

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

// 16 bytes.
fn words_at(at: u32) -> vec4u {
  let place = at / 4u;
  let first = vec4u(blocks[place], blocks[place + 1u], blocks[place + 2u], blocks[place + 3u]);
  if ((at & 2u) == 0u) {
    return first;
  }
  return (first >> vec4u(16u)) | (vec4u(first.yzw, blocks[place + 4u]) << vec4u(16u));
}

fn half_at(at: u32) -> f32 {
  return exact_half(pair_at(at));
}

fn signed_byte_at(at: u32) -> f32 {
  return f32(bitcast<i32>(byte_at(at) << 24u) >> 24u);
}

// Elements i to i + 3 of the block at a byte. i is a multiple of 4.
fn quad(block: u32, i: u32) -> vec4f {
  if (FORMAT == 1u || FORMAT == 30u) { // F16, BF16
    return four_floats(vec2u(word_at(block), word_at(block + 4u)));
  }
  let numbers = vec4f(unpack4xI8(four_numbers(block, i)) - vec4i(i32(offset())));
  let scales = scales_of(block, i);
  let scaled = scales.x * numbers;
  if (has_minimum()) {
    return scaled + scales.y;
  }
  return scaled;
}

// The formats of integers: element = scale * (number - offset) + minimum.

// Elements i to i + 3, as signed bytes of a word. i is a multiple of 4.
fn four_numbers(block: u32, i: u32) -> u32 {
  let low = word_at(block + low_bytes(i));
  var high = 0u;
  if (has_fifth_bits()) {
    high = fifth_bits(block) >> i;
  } else if (has_high_bytes()) {
    high = word_at(block + high_bytes(i));
  }
  return numbers(vec4u(low), vec4u(high), i).x;
}

// Elements i to i + 15, as signed bytes. i is a multiple of 16.
fn sixteen_numbers(block: u32, i: u32) -> vec4u {
  let low = words_at(block + low_bytes(i));
  var high = vec4u();
  if (has_fifth_bits()) {
    high = vec4u(fifth_bits(block) >> i) >> vec4u(0u, 4u, 8u, 12u);
  } else if (has_high_bytes()) {
    high = words_at(block + high_bytes(i));
  }
  return numbers(low, high, i);
}

// Elements from i on, from the words of their low and high bits.
fn numbers(low: vec4u, high: vec4u, i: u32) -> vec4u {
  switch (FORMAT) {
    case 2u, 3u: { return nibbles(low, i / 16u); } // Q4_0, Q4_1
    case 6u, 7u: { // Q5_0, Q5_1: four bits of high become bits 4 of four bytes
      let spread = ((high & vec4u(15u)) * vec4u(0x00204081u)) & vec4u(0x01010101u);
      return nibbles(low, i / 16u) | (spread << vec4u(4u));
    }
    case 10u: { return two_bits(low, i); } // Q2_K
    case 11u: { // Q3_K
      let third = (high >> vec4u(i / 32u)) & vec4u(0x01010101u);
      return two_bits(low, i) | (third << vec4u(2u));
    }
    case 12u: { return nibbles(low, i / 32u % 2u); } // Q4_K
    case 13u: { // Q5_K
      let fifth = (high >> vec4u(i / 32u)) & vec4u(0x01010101u);
      return nibbles(low, i / 32u % 2u) | (fifth << vec4u(4u));
    }
    case 14u: { return nibbles(low, i / 64u % 2u) | (two_bits(high, i) << vec4u(4u)); } // Q6_K
    case 20u: { // IQ4_NL
      let at = nibbles(low, i / 16u);
      return vec4u(iq4_values(at.x), iq4_values(at.y), iq4_values(at.z), iq4_values(at.w));
    }
    case 8u, default: { return low; } // Q8_0
  }
}

fn nibbles(words: vec4u, half: u32) -> vec4u {
  return (words >> vec4u(4u * half)) & vec4u(0x0f0f0f0fu);
}

// The two bits of element i and those after it, in a block of 256.
fn two_bits(words: vec4u, i: u32) -> vec4u {
  return (words >> vec4u(2u * (i / 32u % 4u))) & vec4u(0x03030303u);
}

fn iq4_values(indices: u32) -> u32 {
  var values = IQ4_VALUES;
  var found = 0u;
  for (var byte = 0u; byte < 32u; byte += 8u) {
    let index = (indices >> byte) & 15u;
    found |= ((values[index / 4u] >> (8u * (index % 4u))) & 0xffu) << byte;
  }
  return found;
}

// The number of elements from one to another in the same low bytes, or to the next in other bytes.
fn pair_distance() -> u32 {
  switch (FORMAT) {
    case 10u, 11u, 12u, 13u: { return 32u; }
    case 14u: { return 64u; }
    default: { return 16u; }
  }
}

// The byte of a block with the low bits of element i.
fn low_bytes(i: u32) -> u32 {
  switch (FORMAT) {
    case 2u, 20u: { return 2u + i % 16u; }
    case 3u: { return 4u + i % 16u; }
    case 6u: { return 6u + i % 16u; }
    case 7u: { return 8u + i % 16u; }
    case 10u: { return 16u + 32u * (i / 128u) + i % 32u; }
    case 11u: { return 32u + 32u * (i / 128u) + i % 32u; }
    case 12u: { return 16u + 32u * (i / 64u) + i % 32u; }
    case 13u: { return 48u + 32u * (i / 64u) + i % 32u; }
    case 14u: { return 64u * (i / 128u) + i % 64u; }
    default: { return 2u + i; }
  }
}

fn has_high_bytes() -> bool {
  return FORMAT == 11u || FORMAT == 13u || FORMAT == 14u;
}

// The byte of a block with the high bits of element i.
fn high_bytes(i: u32) -> u32 {
  switch (FORMAT) {
    case 11u: { return i % 32u; }
    case 13u: { return 16u + i % 32u; }
    default: { return 128u + 32u * (i / 128u) + i % 32u; }
  }
}

fn has_fifth_bits() -> bool {
  return FORMAT == 6u || FORMAT == 7u;
}

// Bits 4 of the 32 elements of Q5_0 and Q5_1.
fn fifth_bits(block: u32) -> u32 {
  return word_at(select(block + 4u, block + 2u, FORMAT == 6u));
}

fn offset() -> u32 {
  switch (FORMAT) {
    case 2u: { return 8u; }
    case 6u: { return 16u; }
    case 11u: { return 4u; }
    case 14u: { return 32u; }
    default: { return 0u; }
  }
}

fn has_minimum() -> bool {
  switch (FORMAT) {
    case 3u, 7u, 10u, 12u, 13u: { return true; }
    default: { return false; }
  }
}

// The scale and the minimum of element i.
fn scales_of(block: u32, i: u32) -> vec2f {
  switch (FORMAT) {
    case 3u, 7u: { return vec2f(half_at(block), half_at(block + 2u)); } // Q4_1, Q5_1
    case 10u: { // Q2_K
      let scales = byte_at(block + i / 16u);
      let scale = half_at(block + 80u) * f32(scales & 15u);
      return vec2f(scale, -(half_at(block + 82u) * f32(scales >> 4u)));
    }
    case 11u: { // Q3_K
      return vec2f(half_at(block + 108u) * scale_of_q3(block + 96u, i / 16u), 0.0);
    }
    case 12u, 13u: { // Q4_K, Q5_K
      let scales = scale_and_minimum(block + 4u, i / 32u);
      return vec2f(half_at(block) * scales.x, -(half_at(block + 2u) * scales.y));
    }
    case 14u: { // Q6_K
      return vec2f(half_at(block + 208u) * signed_byte_at(block + 192u + i / 16u), 0.0);
    }
    default: { return vec2f(half_at(block), 0.0); }
  }
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
