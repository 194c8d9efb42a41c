// One step of Adam (https://arxiv.org/abs/1412.6980, algorithm 1), in place, in one pass:
//   m = beta1 m + rest1 g,  v = beta2 v + rest2 g²
//   p = p - lr (m / correction1) / (sqrt(v / correction2) + eps)
// rest = 1 - beta and correction = 1 - beta^step come from the host in double precision: in float32,
// 1 - 0.999 is wrong in the fifth digit. Reads 16n, writes 12n bytes.

struct Params {
  n: u32,
  lr: f32,
  beta1: f32,
  beta2: f32,
  rest1: f32,
  rest2: f32,
  eps: f32,
  correction1: f32,
  correction2: f32,
}

@group(0) @binding(0) var<storage, read> grad: array<f32>;
@group(0) @binding(1) var<storage, read_write> param: array<f32>;
@group(0) @binding(2) var<storage, read_write> m: array<f32>;
@group(0) @binding(3) var<storage, read_write> v: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.y * groups.x * 256u + id.x;
  if (i >= params.n) {
    return;
  }
  let g = grad[i];
  let first = params.beta1 * m[i] + params.rest1 * g;
  let second = params.beta2 * v[i] + params.rest2 * g * g;
  m[i] = first;
  v[i] = second;
  let denominator = sqrt(second / params.correction2) + params.eps;
  param[i] -= params.lr * (first / params.correction1) / denominator;
}
