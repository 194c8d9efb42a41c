// The operands of kernels that rotate x [tokens, heads, width]. See rotary.wgsl.

struct Params {
  tokens: u32,
  heads: u32,
  width: u32,
  rotated: u32,
  adjacent: u32, // 1 if pairs are neighbors, 0 if they are rotated / 2 apart
  capacity: u32, // of a slot of the cache, 0 if y has the shape of x
  entries: u32,  // positions of the table
  each: u32,     // tokens of a sequence
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> angles: array<vec2f>; // [entries, rotated / 2]
@group(0) @binding(2) var<storage, read> position: array<i32>;
@group(0) @binding(3) var<storage, read> slots: array<i32>;
@group(1) @binding(0) var<uniform> params: Params;

fn element(i: u32) -> f32 {
  return x[i];
}
