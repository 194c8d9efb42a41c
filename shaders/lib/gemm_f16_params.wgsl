// The parameters of all products of float16 matrices, C = f(alpha A B + bias) + beta C, of as many
// as the grid has layers of z.

struct Params {
  m: u32,
  n: u32,
  k: u32,
  alpha: f32,
  beta: f32,
  biased: u32, // whether there is a bias, of n halves for every row
  a_batch: u32, // halves from one matrix to the next; 0 where all have the same
  b_batch: u32,
  c_batch: u32,
}

override WIDE: u32 = 0u; // 1: C is of float32, without beta
override BIASED: u32 = 1u; // 0: never a bias. Code for one that never runs takes 1.3 times as long

@group(1) @binding(0) var<uniform> params: Params;

var<private> c_first: u32; // this layer's first element of C, in what C is an array of
