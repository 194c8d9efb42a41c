// The powers of two that bring a float32 matrix's rows, or columns, into float16's range.

const NOT_FINITE = 0x7f800000u; // bits of magnitudes from here on are of infinities and NaN

// The exponent of the factor that brings a magnitude, given by its bits, to 2^14 or more and below
// 2^15: from -113 to 140.
fn scale_of(largest: u32) -> i32 {
  return 141 - max(i32(largest >> 23u), 1);
}

// 2^n for n from -126 to 127.
fn power(n: i32) -> f32 {
  return bitcast<f32>(u32(n + 127) << 23u);
}
