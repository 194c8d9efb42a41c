// Angles as a number of quarter turns and a remainder, for all float32 magnitudes.

//#include lib/kept.wgsl
//#include lib/math/bits.wgsl

// |v| = quarters π/2 + rest + lost, the rest from about -π/4 to π/4.
struct Angle {
  quarters: vec4u, // the last two bits count
  rest: vec4f,
  lost: vec4f, // digits that `rest` cannot hold
}

const NEAR = 0x45c80000u; // the bits of 6400, less than 4096 quarter turns

// The upper half of a product of 24 and 32 bits, by 16 bits at a time.
fn high_word(p: vec4u, q: vec4u) -> vec4u {
  let p_high = p >> vec4u(16u);
  let p_low = p & vec4u(0xffffu);
  let q_high = q >> vec4u(16u);
  let q_low = q & vec4u(0xffffu);
  let middle = p_low * q_high;
  let sum = ((p_low * q_low) >> vec4u(16u)) + (middle & vec4u(0xffffu)) + p_high * q_low;
  return p_high * q_high + (middle >> vec4u(16u)) + (sum >> vec4u(16u));
}

// 32 bits of two words, starting at a bit of the first one, counted from its top.
fn window(first: vec4u, second: vec4u, begin: vec4u) -> vec4u {
  return (first << begin) | ((second >> vec4u(1u)) >> (vec4u(31u) - begin));
}

// Payne and Hanek's reduction (https://doi.org/10.1145/1057600.1057602) in fixed point, for
// magnitudes from 1 on: v = digits 2^n. Only those bits of 2/π are used whose product with 24
// digits is between 2^-62 and 4 quarter turns. The float32 nearest to a multiple of a quarter turn,
// 16367173 2^72, is 2^-29.9 from it.
fn far_angle(size: vec4u) -> Angle {
  // The position of the first of those bits in 2/π after 32 zeros, from 7 to 134, then the four
  // words from there on, selected by fours, by twos and by ones.
  let place = max(size >> vec4u(23u), vec4u(127u)) - vec4u(120u);
  let four = (place & vec4u(128u)) != vec4u();
  let two = (place & vec4u(64u)) != vec4u();
  let one = (place & vec4u(32u)) != vec4u();
  let a0 = select(vec4u(), vec4u(0xf534ddc0u), four);
  let a1 = select(vec4u(0xa2f9836eu), vec4u(0xdb629599u), four);
  let a2 = select(vec4u(0x4e441529u), vec4u(0x3c439041u), four);
  let a3 = select(vec4u(0xfc2757d1u), vec4u(0xfe5163abu), four);
  let b0 = select(a0, a2, two);
  let b1 = select(a1, a3, two);
  let b2 = select(a2, vec4u(0xf534ddc0u), two);
  let b3 = select(a3, vec4u(0xdb629599u), two);
  let b4 = select(vec4u(0xf534ddc0u), vec4u(0x3c439041u), two);
  let c0 = select(b0, b1, one);
  let c1 = select(b1, b2, one);
  let c2 = select(b2, b3, one);
  let c3 = select(b3, b4, one);
  let begin = place & vec4u(31u);
  let digits = (size & vec4u(FRACTION)) | vec4u(SMALLEST);
  // The product, in quarter turns: 2 bits before the point and 62 after it.
  let middle = window(c1, c2, begin);
  let middle_low = digits * middle;
  let low = middle_low + high_word(digits, window(c2, c3, begin));
  let carry = select(vec4u(), vec4u(1u), low < middle_low);
  let high = digits * window(c0, c1, begin) + high_word(digits, middle) + carry;
  // Minus the nearest integer, and its magnitude.
  let quarters = (high + vec4u(0x20000000u)) >> vec4u(30u);
  let left = high - (quarters << vec4u(30u));
  let negative = select(vec4u(), vec4u(0xffffffffu), bitcast<vec4i>(left) < vec4i());
  let left_high = left ^ negative;
  let left_low = low ^ negative;
  // Its first bits, times π/2 as 12 bits and the rest.
  let zeros = min(countLeadingZeros(left_high), vec4u(31u));
  let first = (left_high << zeros) | (left_low >> (vec4u(32u) - zeros));
  let top = vec4f(first >> vec4u(20u));
  let exact = top * 1.57080078125;
  let small = vec4f(first & vec4u(0xfffffu)) * 1.4980281e-6 - top * 4.4544549e-6;
  let rest = kept(exact + small);
  let lost = small - kept(rest - exact);
  let sign = left & vec4u(0x80000000u);
  let unit = flipped(bitcast<vec4f>((vec4u(117u) - zeros) << vec4u(23u)), sign);
  return Angle(quarters, rest * unit, lost * unit);
}

// Cody and Waite's reduction: π/2 as three parts of 12 bits, whose products with the 12 bits of
// `turns` are exact, and a remainder. Larger angles use far_angle.
fn angle_of(v: vec4f) -> Angle {
  let size = size_bits(v);
  let is_far = size > vec4u(NEAR);
  let near = bitcast<vec4f>(min(size, vec4u(NEAR)));
  let turns = round(near * 0.63661977);
  let p = kept(near - turns * 1.57080078125);
  let q = kept(p + turns * 4.453584551811218e-6);
  let r = kept(q + turns * 8.706138032721356e-10);
  let lost_first = kept(kept(p - q) + turns * 4.453584551811218e-6);
  let lost_second = kept(kept(q - r) + turns * 8.706138032721356e-10);
  let small = lost_first + (lost_second - turns * 6.223372e-14);
  let rest = kept(r + small);
  var angle = Angle(vec4u(turns), rest, small - kept(rest - r));
  if (any(is_far)) {
    let far = far_angle(size);
    angle.quarters = select(angle.quarters, far.quarters, is_far);
    angle.rest = select(angle.rest, far.rest, is_far);
    angle.lost = select(angle.lost, far.lost, is_far);
  }
  return angle;
}
