// 64-bit indices along an axis as positions: counted from its end if negative, and clamped to the
// axis.

//#include lib/wide/words.wgsl

fn places_of_wide_signed(index: Long, extent: Long) -> vec4u {
  let place = wide_select(index, wide_add(index, extent), wide_is_negative(index));
  let inside = select(extent.low - vec4u(1u), place.low, wide_less_unsigned(place, extent));
  return select(inside, vec4u(), wide_is_negative(place));
}

fn places_of_wide_unsigned(index: Long, extent: Long) -> vec4u {
  return select(extent.low - vec4u(1u), index.low, wide_less_unsigned(index, extent));
}

fn is_inside_wide_signed(index: Long, extent: Long) -> vec4<bool> {
  let place = wide_select(index, wide_add(index, extent), wide_is_negative(index));
  return wide_less_unsigned(place, extent);
}

fn is_inside_wide_unsigned(index: Long, extent: Long) -> vec4<bool> {
  return wide_less_unsigned(index, extent);
}
