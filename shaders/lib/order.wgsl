// The order of elements as an order of integers.

// 0 f32, 1 i32, 2 u32
override KIND: u32 = 0u;

const LAST = 0xffffffffu; // for f32, only the order of NaN

// For an element's bits: a smaller number for a smaller element. Zeros of both signs are equal. NaN
// are equal and come last, as in NumPy.
fn order_of(bits: u32) -> u32 {
  switch (KIND) {
    case 0u: {
      let magnitude = bits & 0x7fffffffu;
      if (magnitude > 0x7f800000u) {
        return LAST;
      }
      if (magnitude == 0u) {
        return 0x80000000u;
      }
      return select(bits | 0x80000000u, ~bits, bits >= 0x80000000u);
    }
    case 1u: { return bits ^ 0x80000000u; }
    case 2u, default: { return bits; }
  }
}
