// Indices along an axis as positions, with a check. The first index out of bounds is recorded in
// `faults`, which the kernel binds: the number of its check and the two words of the index. Lanes
// after the last element are not checked.

//#include lib/faults.wgsl

fn note_outside(outside: vec4<bool>, low: vec4u, high: vec4u, number: u32, i: u32) {
  let wrong = outside & ((4u * i + vec4u(0u, 1u, 2u, 3u)) < vec4u(params.n));
  if (!any(wrong)) {
    return;
  }
  var first = vec2u(low.w, high.w);
  first = select(first, vec2u(low.z, high.z), wrong.z);
  first = select(first, vec2u(low.y, high.y), wrong.y);
  first = select(first, vec2u(low.x, high.x), wrong.x);
  note_fault(number, first);
}

// As an unsigned number, a negative position is greater than the last one.
fn checked_signed(index: vec4i, extent: vec4i, number: u32, i: u32) -> vec4u {
  let place = bitcast<vec4u>(select(index, index + extent, index < vec4i()));
  let last = bitcast<vec4u>(extent) - vec4u(1u);
  if (any(place > last)) {
    note_outside(place > last, bitcast<vec4u>(index), bitcast<vec4u>(index >> vec4u(31u)), number, i);
  }
  return min(place, last);
}

fn checked_unsigned(index: vec4u, extent: vec4u, number: u32, i: u32) -> vec4u {
  let last = extent - vec4u(1u);
  if (any(index > last)) {
    note_outside(index > last, index, vec4u(), number, i);
  }
  return min(index, last);
}
