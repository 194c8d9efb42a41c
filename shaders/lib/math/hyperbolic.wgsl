// Hyperbolic functions, within 2 ULP.

//#include lib/floats.wgsl
//#include lib/math/bits.wgsl
//#include lib/math/exponentials.wgsl
//#include lib/math/wide.wgsl

// e^-size / 2 from e^size / 2. WGSL does not define quotients by more than 2^126, and from 1e30 on
// the result has no effect.
fn falling_half(rising: vec4f) -> vec4f {
  return 0.25 / min(rising, vec4f(1e30));
}

// `value`, computed from e^size / 2 and e^-size / 2; infinity if the first one is.
fn finite_or_infinite(value: vec4f, rising: vec4f) -> vec4f {
  return select(value, rising, size_bits(rising) == vec4u(INFINITY));
}

// Below 1, the polynomial of Cephes' sinhf.c, since the difference cancels.
fn np_sinh(v: vec4f) -> vec4f {
  let size = abs(v);
  let rising = exp_times(size, -1);
  let t = size * size;
  let near = size + size * t * (1.66667160211e-1 + t * (8.33028376239e-3 + t * 2.03721912945e-4));
  let far = finite_or_infinite(rising - falling_half(rising), rising);
  let value = select(far, near, size < vec4f(1.0));
  return select(flipped(value, sign_bits(v)), v, are_nan(v));
}

fn np_cosh(v: vec4f) -> vec4f {
  let rising = exp_times(abs(v), -1);
  return select(finite_or_infinite(rising + falling_half(rising), rising), v, are_nan(v));
}

// 1 - 2 / (e^2|v| + 1), which is 1 from 10 on. Below 0.625, where that cancels, the polynomial of
// Cephes' tanhf.c.
fn np_tanh(v: vec4f) -> vec4f {
  let size = min(abs(v), vec4f(10.0));
  let t = size * size;
  let near = size + size * t * (-3.33332819422e-1 + t * (1.33314422036e-1 + t * (-5.37397155531e-2
    + t * (2.06390887954e-2 + t * -5.70498872745e-3))));
  let far = 1.0 - near_quotient(vec4f(2.0), exp_accurate(2.0 * size) + 1.0);
  let value = select(far, near, size < vec4f(0.625));
  return select(flipped(value, sign_bits(v)), v, are_nan(v));
}
