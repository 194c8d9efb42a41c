// y[i] = f(x[i]) for i < n; f is chosen by OP when the pipeline is made.
//
// One vec4 a thread: reads 4n and writes 4n bytes. A last vec4 that reaches past n keeps what lies
// there; only it reads y.
// NaN in gives NaN out, infinities behave as in NumPy; NaN is told by its bits, since WGSL lets
// an implementation assume that it does not occur.
//
// Entry points: main (x to y), main_in_place (y to y: WebGPU does not let one buffer be bound
// both for reading and for writing); main_halves and main_halves_in_place, where x or y is of
// float16, two in a word: they take eight elements a thread and compute in float32.

struct Params {
  n: u32, // elements
  halves: u32, // 1: x is of float16, 2: y
}

@group(0) @binding(0) var<storage, read> x: array<vec4f>;
@group(0) @binding(0) var<storage, read> x_words: array<vec4u>;
@group(0) @binding(1) var<storage, read_write> y: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> y_words: array<vec4u>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/elements.wgsl
//#include lib/floats.wgsl
//#include lib/halves.wgsl
//#include lib/math/exponentials.wgsl
//#include lib/math/gelu.wgsl

override THREADS: u32 = 256u; // in a workgroup
// 0 relu, 1 sigmoid, 2 tanh, 3 exp, 4 log, 5 sqrt, 6 abs, 7 neg, 8 gelu, 9 silu, 10 gelu_erf
override OP: u32 = 0u;

// Built-in tanh may be a quotient of exponentials: it then overflows for large |v| and cancels
// near 0, where the Taylor series to v^9 is exact to 1e-8.
fn tanh_accurate(v: vec4f) -> vec4f {
  let t = v * v;
  let near = v * (1.0 + t * (-1.0 / 3.0 + t * (2.0 / 15.0 + t * (-17.0 / 315.0 + t * (62.0 / 2835.0)))));
  let e = exp_accurate(-2.0 * abs(v));
  let far = (1.0 - e) / (1.0 + e);
  return select(select(far, -far, v < vec4f(0.0)), near, abs(v) < vec4f(0.25));
}

fn sigmoid(v: vec4f) -> vec4f {
  let e = exp_accurate(-abs(v));
  return select(vec4f(1.0), e, v < vec4f(0.0)) / (1.0 + e);
}

// Built-in log only promises 2^-21 absolute near 1. There, log v = 2 atanh((v - 1) / (v + 1)),
// whose series to s^9 is exact to 1e-9.
fn log_accurate(v: vec4f) -> vec4f {
  let s = (v - 1.0) / (v + 1.0);
  let t = s * s;
  let near = 2.0 * s * (1.0 + t * (1.0 / 3.0 + t * (1.0 / 5.0 + t * (1.0 / 7.0 + t / 9.0))));
  let positive = select(log(v), vec4f(minus_infinity()), v == vec4f(0.0));
  let far = select(positive, vec4f(quiet_nan()), v < vec4f(0.0));
  return select(far, near, abs(v - 1.0) < vec4f(0.25));
}

fn apply(v: vec4f) -> vec4f {
  switch (OP) {
    case 0u: { return max(v, vec4f(0.0)); }
    case 1u: { return sigmoid(v); }
    case 2u: { return tanh_accurate(v); }
    case 3u: { return exp_accurate(v); }
    case 4u: { return log_accurate(v); }
    case 5u: { return select(sqrt(v), vec4f(quiet_nan()), v < vec4f(0.0)); }
    case 6u: { return abs(v); }
    case 7u: { return -v; }
    case 8u: { return gelu(v); }
    case 9u: { return gated(v, 0.5 * v); }
    case 10u, default: { return gelu_erf(v); }
  }
}

fn result(v: vec4f) -> vec4f {
  return select(apply(v), v, are_nan(v));
}

// What becomes of the vec4 that n ends in: `previous` past n.
fn edge(v: vec4f, previous: vec4f) -> vec4f {
  return select(previous, result(v), vec4u(0u, 1u, 2u, 3u) < vec4u(params.n % 4u));
}

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = index(id, groups);
  if (i < params.n / 4u) {
    y[i] = result(x[i]);
  } else if (4u * i < params.n) {
    y[i] = edge(x[i], y[i]);
  }
}

@compute @workgroup_size(THREADS)
fn main_in_place(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = index(id, groups);
  if (i < params.n / 4u) {
    y[i] = result(y[i]);
  } else if (4u * i < params.n) {
    y[i] = edge(y[i], y[i]);
  }
}

fn store_words(i: u32, value: vec4u, left: u32, each: u32) {
  if (left >= 4u * each) {
    y_words[i] = value;
  } else {
    y_words[i] = words_edge(value, y_words[i], left, each);
  }
}

fn store_eight(i: u32, first: vec4f, second: vec4f) {
  let left = params.n - 8u * i;
  if ((params.halves & 2u) != 0u) {
    store_words(i, vec4u(narrowed(first), narrowed(second)), left, 2u);
    return;
  }
  store_words(2u * i, bitcast<vec4u>(first), left, 1u);
  if (left > 4u) {
    store_words(2u * i + 1u, bitcast<vec4u>(second), left - 4u, 1u);
  }
}

@compute @workgroup_size(THREADS)
fn main_halves(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = index(id, groups);
  if (8u * i >= params.n) {
    return;
  }
  if ((params.halves & 1u) != 0u) {
    let eight = x_words[i];
    store_eight(i, result(widened(eight.xy)), result(widened(eight.zw)));
  } else {
    let first = bitcast<vec4f>(x_words[2u * i]);
    store_eight(i, result(first), result(bitcast<vec4f>(x_words[2u * i + 1u])));
  }
}

@compute @workgroup_size(THREADS)
fn main_halves_in_place(
  @builtin(global_invocation_id) id: vec3u,
  @builtin(num_workgroups) groups: vec3u,
) {
  let i = index(id, groups);
  if (8u * i < params.n) {
    let eight = y_words[i];
    store_eight(i, result(widened(eight.xy)), result(widened(eight.zw)));
  }
}
