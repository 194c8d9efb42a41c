// The parameters of all products of float16 matrices, C = f(alpha A B + bias) + beta C.

struct Params {
  m: u32,
  n: u32,
  k: u32,
  alpha: f32,
  beta: f32,
  biased: u32, // whether there is a bias, of n halves for every row
}

override BIASED: u32 = 1u; // 0: never a bias. Code for one that never runs takes 1.3 times as long

@group(1) @binding(0) var<uniform> params: Params;
