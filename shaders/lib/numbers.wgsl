// The numbers of a matrix: f32 (REAL = 1) or complex as vec2f (COMPLEX = 1).
override REAL: u32 = 1u;
override COMPLEX: u32 = 0u;

//#if REAL
alias Number = f32;

fn number(re: f32) -> Number {
  return re;
}

fn number_of(parts: vec2f) -> Number {
  return parts.x;
}

fn real_part(v: Number) -> f32 {
  return v;
}

fn imaginary_part(v: Number) -> f32 {
  return 0.0;
}

fn conjugate(v: Number) -> Number {
  return v;
}

fn times(a: Number, b: Number) -> Number {
  return a * b;
}

fn quotient(a: Number, b: Number) -> Number {
  return a / b;
}

// The largest absolute value of a part.
fn largest_part(v: Number) -> f32 {
  return abs(v);
}

// |v|²
fn square(v: Number) -> f32 {
  return v * v;
}
//#endif
//#if COMPLEX
alias Number = vec2f;

fn number(re: f32) -> Number {
  return vec2f(re, 0.0);
}

fn number_of(parts: vec2f) -> Number {
  return parts;
}

fn real_part(v: Number) -> f32 {
  return v.x;
}

fn imaginary_part(v: Number) -> f32 {
  return v.y;
}

fn conjugate(v: Number) -> Number {
  return vec2f(v.x, -v.y);
}

fn times(a: Number, b: Number) -> Number {
  return vec2f(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// By Smith's method, which computes no squares: https://doi.org/10.1145/368637.368661
fn quotient(a: Number, b: Number) -> Number {
  if (abs(b.x) >= abs(b.y)) {
    let share = b.y / b.x;
    return vec2f(a.x + a.y * share, a.y - a.x * share) / (b.x + b.y * share);
  }
  let share = b.x / b.y;
  return vec2f(a.x * share + a.y, a.y * share - a.x) / (b.x * share + b.y);
}

// The largest absolute value of a part.
fn largest_part(v: Number) -> f32 {
  return max(abs(v.x), abs(v.y));
}

// |v|²
fn square(v: Number) -> f32 {
  return dot(v, v);
}
//#endif
