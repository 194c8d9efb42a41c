// Four complex numbers and their arithmetic. lib/complex/ has the functions.

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

fn c_negative(a: C) -> C {
  return C(-a.re, -a.im);
}

fn c_select(no: C, yes: C, which: vec4<bool>) -> C {
  return C(select(no.re, yes.re, which), select(no.im, yes.im, which));
}
