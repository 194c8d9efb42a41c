// Rotary position embeddings of tokens from sequences with `each` tokens, at the positions from
// position[sequence] on. Pairs of the first `rotated` elements of a head turn by an angle each, of
// which the table `angles` has cosine and sine. The shader declares params, angles, position, slots,
// and a function element(i) with the numbers to turn.

fn place_of(token: u32) -> u32 {
  return u32(position[token / params.each]) + token % params.each;
}

// The row of a cache with so many heads, for a head of a token at a place.
fn row_of(token: u32, head: u32, heads: u32, place: u32) -> u32 {
  let slot = u32(slots[token / params.each]);
  return (slot * heads + head) * params.capacity + place;
}

// Element i, rotated. Its head has the element at `at`.
fn turned(i: u32, at: u32, place: u32) -> f32 {
  let value = element(i);
  if (at >= params.rotated) {
    return value;
  }
  let half = params.rotated / 2u;
  var pair = at / 2u;
  var is_second = at % 2u == 1u;
  var apart = 1u;
  if (params.adjacent == 0u) {
    pair = at % half;
    is_second = at >= half;
    apart = half;
  }
  let other = element(select(i + apart, i - apart, is_second));
  let turn = angles[min(place, params.entries - 1u) * half + pair];
  return value * turn.x + select(-other, other, is_second) * turn.y;
}
