// Shifts of 64-bit integers. Shifts by 64 bits or more push all bits out.

//#include lib/wide/words.wgsl

// By 0 to 63 bits.
fn wide_left(a: Long, by: vec4u) -> Long {
  let small = by & vec4u(31u);
  let across = (a.low >> vec4u(1u)) >> (vec4u(31u) - small);
  let near = Long(a.low << small, (a.high << small) | across);
  return wide_select(near, Long(vec4u(), a.low << small), by > vec4u(31u));
}

// By 0 to 63 bits.
fn wide_right(a: Long, by: vec4u) -> Long {
  let small = by & vec4u(31u);
  let across = (a.high << vec4u(1u)) << (vec4u(31u) - small);
  let near = Long((a.low >> small) | across, a.high >> small);
  return wide_select(near, Long(a.high >> small, vec4u()), by > vec4u(31u));
}

fn wide_is_outside(by: Long) -> vec4<bool> {
  return (by.high != vec4u()) | (by.low > vec4u(63u));
}

fn wide_shift_left(a: Long, by: Long) -> Long {
  let found = wide_left(a, by.low & vec4u(63u));
  return wide_select(found, Long(vec4u(), vec4u()), wide_is_outside(by));
}

fn wide_shift_right_unsigned(a: Long, by: Long) -> Long {
  let found = wide_right(a, by.low & vec4u(63u));
  return wide_select(found, Long(vec4u(), vec4u()), wide_is_outside(by));
}

fn wide_shift_right_signed(a: Long, by: Long) -> Long {
  // For a negative number, the bits that come in are ones.
  let ones = vec4u() - vec4u(wide_is_negative(a));
  let found = wide_shift_right_unsigned(Long(a.low ^ ones, a.high ^ ones), by);
  return Long(found.low ^ ones, found.high ^ ones);
}
