// Jacobi's rotations, after lib/numbers.wgsl: which pairs of n vectors are turned in which round,
// and by how much.

// The pairs of a round, which have no vector in common; n - 1 rounds (n if that is odd) have all.
// One of them may have a vector that is not there.
fn pairs_of(n: u32) -> u32 {
  return (n + 1u) / 2u;
}

// The k-th pair of a round, the smaller one first, as players of a tournament are paired: the last
// one stays, the others move round. https://doi.org/10.1137/0906007
fn pair_of(n: u32, round: u32, k: u32) -> vec2u {
  let others = 2u * pairs_of(n) - 1u;
  let one = (round + k) % others;
  let other = select((round + others - k) % others, others, k == 0u);
  return vec2u(min(one, other), max(one, other));
}

// Two vectors p and q become p - conj(s) (q + t p) and q + s (p - conj(t) q): a rotation whose sine
// is |s|, and t half the angle's tangent, written so that small angles lose little.
struct Rotation {
  s: Number,
  t: Number,
}

// What makes two vectors orthogonal whose squares are a and b, and whose product conj(p) q is not 0;
// or a Hermitian matrix of these diagonal. The smaller one of the angles, by Rutishauser's formula:
// https://doi.org/10.1007/BF02165223
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
