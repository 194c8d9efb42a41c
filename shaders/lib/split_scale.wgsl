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

// x times 2^scale_of(largest). In two steps, since the factor of a row of tiny numbers exceeds
// float32.
fn scaled_up(x: vec4f, largest: u32) -> vec4f {
  let scale = scale_of(largest);
  let some = scale / 2;
  return x * power(some) * power(scale - some);
}

// A product of elements that scaled_up scaled by two magnitudes, without the factors.
fn scaled_back(product: f32, largest_a: u32, largest_b: u32) -> f32 {
  // From -280 to 226, in three steps that fit float32.
  let back = -(scale_of(largest_a) + scale_of(largest_b));
  let third = back / 3;
  let rest = back - third;
  return product * power(third) * power(rest / 2) * power(rest - rest / 2);
}
