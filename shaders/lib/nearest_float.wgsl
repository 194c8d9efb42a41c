// Integers as the nearest float, by halves whose sum is rounded once. Some devices round u32 twice.

fn nearest_float(v: vec4u) -> vec4f {
  return vec4f(v >> vec4u(16u)) * 65536.0 + vec4f(v & vec4u(0xffffu));
}
