// Rotary position embeddings. x is [tokens, heads, width], of sequences with `each` tokens, at the
// positions from position[sequence] on. Pairs of the first `rotated` elements of a head turn by an
// angle each, of which the table has cosine and sine.

struct Params {
  tokens: u32,
  heads: u32,
  width: u32,
  rotated: u32,
  adjacent: u32, // 1 if pairs are neighbors, 0 if they are rotated / 2 apart
  capacity: u32, // of a slot of the cache, 0 if y has the shape of x
  entries: u32,  // positions of the table
  each: u32,     // tokens of a sequence
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> angles: array<vec2f>; // [entries, rotated / 2]
@group(0) @binding(2) var<storage, read> position: array<i32>;
@group(0) @binding(3) var<storage, read> slots: array<i32>;
@group(1) @binding(0) var<uniform> params: Params;

fn place_of(token: u32) -> u32 {
  return u32(position[token / params.each]) + token % params.each;
}

// The row of the cache for a head of a token at a place.
fn row_of(token: u32, head: u32, place: u32) -> u32 {
  let slot = u32(slots[token / params.each]);
  return (slot * params.heads + head) * params.capacity + place;
}

// Element i of x, rotated. Its head has the element at `at`.
fn turned(i: u32, at: u32, place: u32) -> f32 {
  let value = x[i];
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
  let other = x[select(i + apart, i - apart, is_second)];
  let turn = angles[min(place, params.entries - 1u) * half + pair];
  return value * turn.x + select(-other, other, is_second) * turn.y;
}
