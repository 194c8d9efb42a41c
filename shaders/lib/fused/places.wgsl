// Indices along an axis as positions: counted from its end if negative, and clamped to the axis.

fn places_of_signed(index: vec4i, extent: vec4i) -> vec4u {
  let place = select(index, index + extent, index < vec4i());
  return vec4u(clamp(place, vec4i(), extent - vec4i(1)));
}

fn places_of_unsigned(index: vec4u, extent: vec4u) -> vec4u {
  return min(index, extent - vec4u(1u));
}
