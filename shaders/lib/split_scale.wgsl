// The powers of two that scale a float32 matrix's rows, or columns, to float16's range.

const NOT_FINITE = 0x7f800000u; // bits of magnitudes from here on are infinities and NaN

// The exponent of the factor that scales a magnitude, given by its bits, to at least 2^14 and below
// 2^15: from -113 to 140.
fn scale_of(largest: u32) -> i32 {
  return 141 - max(i32(largest >> 23u), 1);
}

// 2^n for n from -126 to 127.
fn power(n: i32) -> f32 {
  return bitcast<f32>(u32(n + 127) << 23u);
}
