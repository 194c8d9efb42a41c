// Numbers taken apart into 2^e and what is left.

// The e of the power of two that is not above v > 0, from -126 to 126: nearer to 0 than it is at
// both ends, so that 2^e and 2^-e are normal numbers.
fn binary_exponent(v: f32) -> i32 {
  return clamp(i32((bitcast<u32>(v) >> 23u) & 0xffu) - 127, -126, 126);
}

// 2^e, for e from -126 to 126.
fn power_of_two(e: i32) -> f32 {
  return bitcast<f32>(u32(e + 127) << 23u);
}
