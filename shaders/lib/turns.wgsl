// Complex numbers as vec2f, and numbers on the unit circle.

fn times(a: vec2f, b: vec2f) -> vec2f {
  return vec2f(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// exp(sign 2πi k / m) for k < m <= 2^28, within about 1e-7; the built-in sin and cos guarantee only
// 2^-11. The angle is divided into the nearest quarter of a turn (or, by a rounding error, the
// next) and an exact remainder of at most an eighth of a turn either way. t is the remainder in
// eighths of a turn, and the polynomials in t² are accurate to 2^-28.
fn turn(k: u32, m: u32, sign: f32) -> vec2f {
  let share = 1.0 / f32(m);
  let quarter = u32(4.0 * (f32(k) * share) + 0.5);
  let t = f32(bitcast<i32>(8u * k - 2u * quarter * m)) * share;
  let x = t * t;
  let sine = t * (0.78539816 + x * (-0.08074551 + x * (0.0024903932 + x * (-3.6572393e-5
    + x * 3.0899666e-7))));
  let cosine = 1.0 + x * (-0.30842514 + x * (0.015854325 + x * (-3.2593859e-4
    + x * 3.5297971e-6)));
  let first = select(vec2f(cosine, sine), vec2f(-sine, cosine), (quarter & 1u) != 0u);
  let full = select(first, -first, (quarter & 2u) != 0u);
  return vec2f(full.x, sign * full.y);
}
