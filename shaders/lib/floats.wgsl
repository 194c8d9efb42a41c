// Floats by their bits: NaN and infinities. WGSL lets an implementation assume that they do not
// occur, and refuses them in constant expressions.

fn is_nan(v: f32) -> bool {
  return (bitcast<u32>(v) & 0x7fffffffu) > 0x7f800000u;
}

fn are_nan(v: vec4f) -> vec4<bool> {
  return (bitcast<vec4u>(v) & vec4u(0x7fffffffu)) > vec4u(0x7f800000u);
}

fn is_minus_infinity(v: f32) -> bool {
  return bitcast<u32>(v) == 0xff800000u;
}

fn from_bits(bits: u32) -> f32 {
  var word = bits; // a variable, so that this is not a constant expression
  return bitcast<f32>(word);
}

fn minus_infinity() -> f32 {
  return from_bits(0xff800000u);
}

fn quiet_nan() -> f32 {
  return from_bits(0x7fc00000u);
}

fn largest_of_four(v: vec4f) -> f32 {
  return max(max(v.x, v.y), max(v.z, v.w));
}

fn sum_of_four(v: vec4f) -> f32 {
  return (v.x + v.y) + (v.z + v.w);
}
