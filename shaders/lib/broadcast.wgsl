// Two operands that are broadcast: params holds the indices' extents, and the strides of a and b.

override RANK: u32 = 5u; // indices in use

// Where the elements of a and b are that the i-th one comes from.
fn sources(i: u32) -> vec2u {
  var rest = i;
  var at = vec2u();
  if (RANK > 4u) {
    at += rest % params.extent4 * vec2u(params.a4, params.b4);
    rest /= params.extent4;
  }
  if (RANK > 3u) {
    at += rest % params.extent3 * vec2u(params.a3, params.b3);
    rest /= params.extent3;
  }
  if (RANK > 2u) {
    at += rest % params.extent2 * vec2u(params.a2, params.b2);
    rest /= params.extent2;
  }
  at += rest % params.extent1 * vec2u(params.a1, params.b1);
  rest /= params.extent1;
  return at + rest * vec2u(params.a0, params.b0);
}
