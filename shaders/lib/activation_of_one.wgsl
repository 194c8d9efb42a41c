// The activation of one element of a matrix product, selected by `function`. lib/math/gelu.wgsl
// describes the formulas.

//#include lib/chain.wgsl
//#include lib/erfc.wgsl
//#include lib/floats.wgsl

fn apply(v: f32, function: u32) -> f32 {
  if (function == CHAIN) {
    return chained(vec4f(v)).x;
  }
  if (is_nan(v)) {
    return v;
  }
  switch (function) {
    case 1u: { return max(v, 0.0); }
    case 2u: { return v / (1.0 + exp(-1.5957691216057308 * (v + 0.044715 * v * v * v))); }
    case 3u: { return v / (1.0 + exp(-v)); }
    case 4u: {
      let z = abs(v) * 0.7071067811865476;
      let t = 1.0 / (1.0 + 0.5 * z);
      let tail = 0.5 * t * exp(erfc_exponent(t) - z * z);
      return v * select(1.0 - tail, tail, v < 0.0);
    }
    case 0u, default: { return v; }
  }
}
