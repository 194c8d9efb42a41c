// Sigmoid, SiLU, both forms of GELU (https://arxiv.org/abs/1606.08415), and the distribution
// function Φ of the standard normal distribution. None cancels for negative v.

//#include lib/erfc.wgsl
//#include lib/floats.wgsl
//#include lib/kept.wgsl
//#include lib/math/exponentials.wgsl

// v sigmoid(2 u), where u has the sign of v. exp(-|u|) is multiplied twice, since its square may be
// subnormal when the product with v is not.
fn gated(v: vec4f, u: vec4f) -> vec4f {
  let root = exp_accurate(-abs(u));
  let share = 1.0 / (1.0 + root * root);
  return select(v * share, v * root * (root * share), v < vec4f(0.0));
}

// The tanh form: 0.5 v (1 + tanh u) = v sigmoid(2 u).
fn gelu(v: vec4f) -> vec4f {
  return gated(v, 0.7978845608028654 * (v + 0.044715 * v * v * v));
}

// Φ(-|v|) = large small: half of erfc(z) for z = |v| / sqrt(2). z² = v²/2 is the exact square of
// v's first 12 bits plus a small remainder. The product may be subnormal when v Φ(v) is not.
struct Tail {
  large: vec4f,
  small: vec4f,
}

fn tail_of(v: vec4f) -> Tail {
  let size = min(abs(v), vec4f(20.0)); // the tail is 0 from 14 on
  let top = bitcast<vec4f>(bitcast<vec4u>(size) & vec4u(0xfffff000u));
  let t = 1.0 / (1.0 + 0.35355339 * size);
  let large = exp_accurate(-0.5 * top * top);
  let small = 0.5 * t * exp_accurate(erfc_exponents(t) - 0.5 * kept(size - top) * (size + top));
  return Tail(large, small);
}

// v Φ(v)
fn gelu_erf(v: vec4f) -> vec4f {
  let tail = tail_of(v);
  return select(v * (1.0 - tail.large * tail.small), v * tail.large * tail.small, v < vec4f(0.0));
}

fn np_gelu(v: vec4f) -> vec4f {
  return select(gelu_erf(v), v, are_nan(v));
}

fn np_gelu_tanh(v: vec4f) -> vec4f {
  return select(gelu(v), v, are_nan(v));
}

fn np_ndtr(v: vec4f) -> vec4f {
  let tail = tail_of(v);
  let below = tail.large * tail.small;
  return select(select(1.0 - below, below, v < vec4f(0.0)), v, are_nan(v));
}

fn np_sigmoid(v: vec4f) -> vec4f {
  let power = np_exp(-abs(v));
  return select(select(vec4f(1.0), power, v < vec4f()) / (1.0 + power), v, are_nan(v));
}

fn np_silu(v: vec4f) -> vec4f {
  return select(gated(v, 0.5 * v), v, are_nan(v));
}
