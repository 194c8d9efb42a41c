// C functions that WGSL lacks, for kernels that are translated from C.

// To the nearest integer; halves away from 0.
fn round_away(x: f32) -> f32 {
  let whole = trunc(x);
  return whole + select(0.0, sign(x), abs(x - whole) >= 0.5);
}

fn cube_root(x: f32) -> f32 {
  let first = sign(x) * exp2(log2(abs(x)) / 3.0);
  // A step of Newton's method.
  return select(first - (first - x / (first * first)) / 3.0, x, x == 0.0);
}

fn is_infinite(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) == 0x7f800000u;
}

fn with_sign(x: f32, signed: f32) -> f32 {
  return bitcast<f32>((bitcast<u32>(x) & 0x7fffffffu) | (bitcast<u32>(signed) & 0x80000000u));
}

// x to the power of y, also of x < 0 for integer y.
fn power_of(x: f32, y: f32) -> f32 {
  if (y == 0.0) {
    return 1.0;
  }
  if (y == 2.0) {
    return x * x;
  }
  let size = pow(abs(x), y);
  let is_odd = abs(y - 2.0 * floor(0.5 * y)) == 1.0;
  if (x < 0.0 && floor(y) != y) {
    return bitcast<f32>(bitcast<u32>(size) | 0x7fc00000u);
  }
  return select(size, -size, x < 0.0 && is_odd);
}

fn complex_product(a: vec2f, b: vec2f) -> vec2f {
  return vec2f(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

fn complex_quotient(a: vec2f, b: vec2f) -> vec2f {
  return vec2f(a.x * b.x + a.y * b.y, a.y * b.x - a.x * b.y) / dot(b, b);
}
