// Conversions between the types of computations.

//#include lib/floats.wgsl
//#include lib/nearest_float.wgsl

fn are_true(v: vec4f) -> vec4<bool> {
  return (bitcast<vec4u>(v) & vec4u(0x7fffffffu)) != vec4u();
}

// NaN becomes 0.
fn clamped(v: vec4f, low: f32, high: f32) -> vec4f {
  return select(clamp(v, vec4f(low), vec4f(high)), vec4f(), are_nan(v));
}

fn whole_signed(v: vec4f) -> vec4i {
  // 2147483520 is the largest f32 below 2^31. i32 ends before 2^31.
  let inside = vec4i(clamped(v, -2147483648.0, 2147483520.0));
  return select(inside, vec4i(2147483647), v >= vec4f(2147483648.0));
}

fn whole_unsigned(v: vec4f) -> vec4u {
  let inside = vec4u(clamped(v, 0.0, 4294967040.0));
  return select(inside, vec4u(0xffffffffu), v >= vec4f(4294967296.0));
}
