// Division of numbers into 2^e and the rest.

// The e of the largest power of two up to v > 0, from -126 to 126, so closer to 0 at both ends: 2^e
// and 2^-e are then normal numbers.
fn binary_exponent(v: f32) -> i32 {
  return clamp(i32((bitcast<u32>(v) >> 23u) & 0xffu) - 127, -126, 126);
}

// 2^e, for e from -126 to 126.
fn power_of_two(e: i32) -> f32 {
  return bitcast<f32>(u32(e + 127) << 23u);
}
