// Hyperbolic functions, within 2 ULP.

//#include lib/floats.wgsl
//#include lib/math/bits.wgsl
//#include lib/math/exponentials.wgsl
//#include lib/math/wide.wgsl

// e^-size / 2 where `half` is e^size / 2; never a quotient of infinity.
fn falling_half(half: vec4f) -> vec4f {
  return 0.25 / min(half, vec4f(1e30));
}

// Below 1 the polynomial of Cephes' sinhf.c, since the difference cancels there.
fn np_sinh(v: vec4f) -> vec4f {
  let size = abs(v);
  let half = exp_times(size, -1);
  let t = size * size;
  let near = size + size * t * (1.66667160211e-1 + t * (8.33028376239e-3 + t * 2.03721912945e-4));
  let value = select(half - falling_half(half), near, size < vec4f(1.0));
  return select(flipped(value, sign_bits(v)), v, are_nan(v));
}

fn np_cosh(v: vec4f) -> vec4f {
  let half = exp_times(abs(v), -1);
  return select(half + falling_half(half), v, are_nan(v));
}

// 1 - 2 / (e^2|v| + 1), which is 1 from 10 on; below 0.625, where that cancels, the polynomial of
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
