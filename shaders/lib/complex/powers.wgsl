// Powers: repeated products for integer exponents with a magnitude up to 64, otherwise e^(w ln z).
// The error of the latter is 2 |w ln z| + 4 ULP.

//#include lib/complex/exponentials.wgsl
//#include lib/complex/logarithms.wgsl
//#include lib/complex/parts.wgsl
//#include lib/complex/quotients.wgsl

// a b, or 0 if b is 0, even if a is infinite or NaN.
fn product_or_zero(a: vec4f, b: vec4f) -> vec4f {
  return select(a * b, vec4f(), is_zero(b));
}

fn whole_power(z: C, exponent: vec4f) -> C {
  var rest = vec4u(abs(exponent));
  var square = z;
  var power = C(vec4f(1.0), vec4f());
  for (var n = 0; n < 7; n++) {
    let is_odd = (rest & vec4u(1u)) != vec4u();
    power = c_select(power, c_multiply(power, square), is_odd);
    square = c_multiply(square, square);
    rest >>= vec4u(1u);
  }
  return c_select(power, c_reciprocal(power), exponent < vec4f());
}

// A power of 0 is 1 if the exponent is 0, 0 if its real part is positive, and NaN otherwise.
fn c_pow(z: C, w: C) -> C {
  let log = c_log(z);
  let re = product_or_zero(log.re, w.re) - product_or_zero(log.im, w.im);
  let im = product_or_zero(log.im, w.re) + product_or_zero(log.re, w.im);
  let is_whole = is_zero(w.im) & (abs(w.re) <= vec4f(64.0)) & (round(w.re) == w.re);
  let exponent = select(vec4f(), w.re, is_whole);
  let value = c_select(c_exp(C(re, im)), whole_power(z, exponent), is_whole);
  let of_zero = number_or_nan(vec4f(), w.re > vec4f());
  let with_zero = c_select(value, C(of_zero, of_zero), c_iszero(z));
  return c_select(with_zero, C(vec4f(1.0), vec4f()), c_iszero(w));
}
