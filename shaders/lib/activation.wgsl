// The activation of a matrix product, selected when the pipeline is created. lib/math/gelu.wgsl
// describes the formulas.

//#include lib/chain.wgsl
//#include lib/erfc.wgsl
//#include lib/floats.wgsl

override FUNCTION: u32 = 0u; // f: 0 none, 1 relu, 2 gelu, 3 silu, 4 gelu_erf

fn apply(v: vec4f) -> vec4f {
  if (FUNCTION == CHAIN) {
    return chained(v);
  }
  var value = v;
  switch (FUNCTION) {
    case 1u: { value = max(v, vec4f(0.0)); }
    case 2u: { value = v / (1.0 + exp(-1.5957691216057308 * (v + 0.044715 * v * v * v))); }
    case 3u: { value = v / (1.0 + exp(-v)); }
    case 4u: {
      let z = abs(v) * 0.7071067811865476;
      let t = 1.0 / (1.0 + 0.5 * z);
      let tail = 0.5 * (t * exp(erfc_exponents(t) - z * z));
      value = v * select(1.0 - tail, tail, v < vec4f(0.0));
    }
    case 0u, default: { return v; }
  }
  return select(value, v, are_nan(v));
}
