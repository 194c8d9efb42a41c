// The maximum and the minimum of two floats. The result is NaN if either float is NaN.

//#include lib/floats.wgsl

fn maximum(a: vec4f, b: vec4f) -> vec4f {
  return select(select(max(a, b), b, are_nan(b)), a, are_nan(a));
}

fn minimum(a: vec4f, b: vec4f) -> vec4f {
  return select(select(min(a, b), b, are_nan(b)), a, are_nan(a));
}
