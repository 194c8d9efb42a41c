// Numbers of a cache in 8 bits: integers that multiply with a factor, the largest size of 32 / 127.

const BLOCK = 32u;
const LEAST = 1e-30; // smaller numbers become 0

fn inverse_of(largest: f32) -> f32 {
  return select(127.0 / largest, 0.0, largest < LEAST);
}

fn packed(four: vec4f, inverse: f32) -> u32 {
  return pack4xI8(clamp(vec4i(round(four * inverse)), vec4i(-127), vec4i(127)));
}
