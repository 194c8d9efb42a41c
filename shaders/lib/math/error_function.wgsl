// The error function, within 2.5 ULP.

//#include lib/erfc.wgsl
//#include lib/floats.wgsl
//#include lib/math/bits.wgsl
//#include lib/math/exponentials.wgsl

// Below 1 the polynomial of Cephes' ndtrf.c, above it 1 - erfc; from 4 on it is 1. Of tiny values
// the first term is all; in two parts, one of them may be subnormal.
fn np_erf(v: vec4f) -> vec4f {
  let size = min(abs(v), vec4f(4.0));
  let square = size * size;
  let near = size + size * (1.28379165726710e-1 + square * (-3.761262582423300e-1
    + square * (1.128358514861418e-1 + square * (-2.685381193529856e-2
    + square * (5.188327685732524e-3 + square * (-8.010193625184903e-4
    + square * 7.853861353153693e-5))))));
  let t = 1.0 / (1.0 + 0.5 * size);
  let far = 1.0 - t * exp_accurate(erfc_exponents(t) - square);
  let all = select(near, 1.12837917 * size, size < vec4f(1e-30));
  let value = select(far, all, size < vec4f(1.0));
  return select(flipped(value, sign_bits(v)), v, are_nan(v));
}
