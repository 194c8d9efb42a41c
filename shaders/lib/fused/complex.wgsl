// Four complex numbers.

struct C {
  re: vec4f,
  im: vec4f,
}

fn c_add(a: C, b: C) -> C {
  return C(a.re + b.re, a.im + b.im);
}

fn c_subtract(a: C, b: C) -> C {
  return C(a.re - b.re, a.im - b.im);
}

fn c_multiply(a: C, b: C) -> C {
  return C(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
}

// Smith's algorithm (Algorithm 116, CACM 1962), which does not square what may overflow.
fn c_divide(a: C, b: C) -> C {
  let wide = abs(b.re) >= abs(b.im);
  let large = select(b.im, b.re, wide);
  let ratio = select(b.re, b.im, wide) / large;
  let scale = large + select(b.re, b.im, wide) * ratio;
  let re = select(a.re * ratio + a.im, a.re + a.im * ratio, wide);
  let im = select(a.im * ratio - a.re, a.im - a.re * ratio, wide);
  let zero = (b.re == vec4f()) & (b.im == vec4f());
  return C(select(re / scale, a.re / b.re, zero), select(im / scale, a.im / b.re, zero));
}

fn c_negative(a: C) -> C {
  return C(-a.re, -a.im);
}

fn c_abs(a: C) -> vec4f {
  let large = max(abs(a.re), abs(a.im));
  let small = min(abs(a.re), abs(a.im));
  let ratio = small / select(large, vec4f(1.0), large == vec4f());
  return large * sqrt(1.0 + ratio * ratio);
}

fn c_select(no: C, yes: C, which: vec4<bool>) -> C {
  return C(select(no.re, yes.re, which), select(no.im, yes.im, which));
}

// x / |x|, and 0 of 0.
fn c_sign(a: C) -> C {
  let size = c_abs(a);
  let divisor = select(size, vec4f(1.0), size == vec4f());
  return C(a.re / divisor, a.im / divisor);
}
