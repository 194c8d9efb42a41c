// The parameters of all float16 matrix products, C = f(alpha A B + bias) + beta C. The grid's z is
// the number of products.

struct Params {
  m: u32,
  n: u32,
  k: u32,
  alpha: f32,
  beta: f32,
  biased: u32, // whether there is a bias, of n halves for every row
  a_batch: u32, // halves from one matrix to the next; 0 if all products share one
  b_batch: u32,
  c_batch: u32,
}

override WIDE: u32 = 0u; // 1: C is float32, without beta
override BIASED: u32 = 1u; // 0: no bias. Unused code for a bias takes 1.3 times as long

@group(1) @binding(0) var<uniform> params: Params;

var<private> c_first: u32; // this layer's first element of C, in units of C's array
