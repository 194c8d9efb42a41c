// lib/fused/faults.wgsl for 64-bit indices.

//#include lib/fused/faults.wgsl
//#include lib/wide/places.wgsl
//#include lib/wide/words.wgsl

fn checked_wide_signed(index: Long, extent: Long, number: u32, i: u32) -> vec4u {
  let inside = is_inside_wide_signed(index, extent);
  if (!all(inside)) {
    note_outside(!inside, index.low, index.high, number, i);
  }
  return places_of_wide_signed(index, extent);
}

fn checked_wide_unsigned(index: Long, extent: Long, number: u32, i: u32) -> vec4u {
  let inside = is_inside_wide_unsigned(index, extent);
  if (!all(inside)) {
    note_outside(!inside, index.low, index.high, number, i);
  }
  return places_of_wide_unsigned(index, extent);
}
