// Jacobi rotations, included after lib/numbers.wgsl: the pairs of n vectors in each round, and
// their rotations.

// The number of disjoint pairs in a round. n - 1 rounds (n if that is odd) contain all pairs. One
// pair of a round may have a missing vector.
fn pairs_of(n: u32) -> u32 {
  return (n + 1u) / 2u;
}

// The k-th pair of a round, the smaller index first, as in a round-robin tournament: the last one
// stays, the others rotate. https://doi.org/10.1137/0906007
fn pair_of(n: u32, round: u32, k: u32) -> vec2u {
  let others = 2u * pairs_of(n) - 1u;
  let one = (round + k) % others;
  let other = select((round + others - k) % others, others, k == 0u);
  return vec2u(min(one, other), max(one, other));
}

// Two vectors p and q become p - conj(s) (q + t p) and q + s (p - conj(t) q): a rotation with |s|
// the sine and t half the angle's tangent, in a form that is accurate for small angles.
struct Rotation {
  s: Number,
  t: Number,
}

// The rotation that makes two vectors orthogonal, with squares a and b and a product conj(p) q
// other than 0, or that diagonalizes such a Hermitian matrix. The smaller of the angles, by
// Rutishauser's formula: https://doi.org/10.1007/BF02165223
fn rotation_of(a: f32, b: f32, product: Number) -> Rotation {
  let size = sqrt(square(product));
  let cotangent = 0.5 * (b - a) / size; // of twice the angle
  let length = min(abs(cotangent), 1e18);
  let tangent = select(1.0, -1.0, cotangent < 0.0) / (length + sqrt(1.0 + length * length));
  let c = inverseSqrt(1.0 + tangent * tangent);
  let s = product * (tangent * c / size);
  return Rotation(s, s / (1.0 + c));
}

fn first_of(rotation: Rotation, p: Number, q: Number) -> Number {
  return p - times(conjugate(rotation.s), q + times(rotation.t, p));
}

fn second_of(rotation: Rotation, p: Number, q: Number) -> Number {
  return q + times(rotation.s, p - times(conjugate(rotation.t), q));
}
