// y[i] = (x[i] - mean[c]) / sqrt(variance[c] + eps) * gamma[c] + beta[c] for x of [N, C, inner],
// where c is the channel of i. One element per thread: reads 4n and writes 4n bytes. main_halves:
// float16, two elements per thread, computed in float32. main_eights: eight elements per thread, if
// the size of a channel is divisible by 8.
//
// In training, mean and variance are those of the batch. `statistics` computes them from the
// quadruples of moments.wgsl (biased variance) and moves the running statistics towards them
// (unbiased variance). One channel per thread.

struct Params {
  n: u32,
  channels: u32,
  inner: u32,
  eps: f32,
  momentum: f32, // weight of the batch in the running statistics
  unbiased: f32, // count / (count - 1)
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> mean: array<f32>;
@group(0) @binding(2) var<storage, read> variance: array<f32>;
@group(0) @binding(3) var<storage, read> gamma: array<f32>;
@group(0) @binding(4) var<storage, read> beta: array<f32>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;
@group(0) @binding(6) var<storage, read> moments: array<f32>; // count, pivot, mean, deviations
@group(0) @binding(7) var<storage, read_write> batch_mean: array<f32>;
@group(0) @binding(8) var<storage, read_write> batch_variance: array<f32>;
@group(0) @binding(9) var<storage, read_write> running_mean: array<f32>;
@group(0) @binding(10) var<storage, read_write> running_variance: array<f32>;
@group(0) @binding(0) var<storage, read> x_halves: array<u32>;
@group(0) @binding(1) var<storage, read> mean_halves: array<u32>;
@group(0) @binding(2) var<storage, read> variance_halves: array<u32>;
@group(0) @binding(3) var<storage, read> gamma_halves: array<u32>;
@group(0) @binding(4) var<storage, read> beta_halves: array<u32>;
@group(0) @binding(5) var<storage, read_write> y_halves: array<u32>;
@group(0) @binding(0) var<storage, read> x_eights: array<vec4u>;
@group(0) @binding(5) var<storage, read_write> y_eights: array<vec4u>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/batch_statistics.wgsl
//#include lib/halves.wgsl

override THREADS: u32 = 256u; // in a workgroup

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.y * groups.x * THREADS + id.x;
  if (i >= params.n) {
    return;
  }
  let c = i / params.inner % params.channels;
  let factor = 1.0 / sqrt(variance[c] + params.eps);
  y[i] = (x[i] - mean[c]) * factor * gamma[c] + beta[c];
}

@compute @workgroup_size(THREADS)
fn main_halves(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.y * groups.x * THREADS + id.x;
  if (2u * i >= params.n) {
    return;
  }
  let c = (2u * i + vec2u(0u, 1u)) / params.inner % params.channels;
  let word = c >> vec2u(1u);
  let centre = vec2f(half_of(mean_halves[word.x], c.x), half_of(mean_halves[word.y], c.y));
  let spread = vec2f(half_of(variance_halves[word.x], c.x), half_of(variance_halves[word.y], c.y));
  let scale = vec2f(half_of(gamma_halves[word.x], c.x), half_of(gamma_halves[word.y], c.y));
  let shift = vec2f(half_of(beta_halves[word.x], c.x), half_of(beta_halves[word.y], c.y));
  let v = unpack2x16float(x_halves[i]);
  let found = (v - centre) * (1.0 / sqrt(spread + params.eps)) * scale + shift;
  y_halves[i] = narrowed(found.xyxy).x;
}

@compute @workgroup_size(THREADS)
fn main_eights(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.y * groups.x * THREADS + id.x;
  if (8u * i >= params.n) {
    return;
  }
  let c = 8u * i / params.inner % params.channels;
  let word = c >> 1u;
  let centre = half_of(mean_halves[word], c);
  let factor = 1.0 / sqrt(half_of(variance_halves[word], c) + params.eps);
  let scale = half_of(gamma_halves[word], c);
  let shift = half_of(beta_halves[word], c);
  let bits = x_eights[i];
  let low = (widened(bits.xy) - centre) * factor * scale + shift;
  let high = (widened(bits.zw) - centre) * factor * scale + shift;
  y_eights[i] = vec4u(narrowed(low), narrowed(high));
}

@compute @workgroup_size(THREADS)
fn statistics(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let c = id.y * groups.x * THREADS + id.x;
  if (c >= params.channels) {
    return;
  }
  let variance = moments[4u * c + 3u] / moments[4u * c];
  store_statistics(c, moments[4u * c + 1u] + moments[4u * c + 2u], variance);
}
