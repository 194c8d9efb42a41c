// The error function. Who includes this has params.n, below 2^31: see lib/kept.wgsl.

//#include lib/erfc.wgsl
//#include lib/floats.wgsl
//#include lib/math/bits.wgsl
//#include lib/math/exponentials.wgsl

// Below 1 the polynomial of Cephes' ndtrf.c, above it 1 - erfc; from 4 on it is 1.
fn np_erf(v: vec4f) -> vec4f {
  let size = min(abs(v), vec4f(4.0));
  let square = size * size;
  let near = size * (1.128379165726710 + square * (-3.761262582423300e-1
    + square * (1.128358514861418e-1 + square * (-2.685381193529856e-2
    + square * (5.188327685732524e-3 + square * (-8.010193625184903e-4
    + square * 7.853861353153693e-5))))));
  let t = 1.0 / (1.0 + 0.5 * size);
  let far = 1.0 - t * exp_accurate(erfc_exponents(t) - square);
  let value = select(far, near, size < vec4f(1.0));
  return select(flipped(value, sign_bits(v)), v, are_nan(v));
}
