// y = x / sqrt(mean(x²) + eps) * weight + residual for rows of x, by a workgroup each.

struct Params {
  rows: u32,
  length: u32,
  eps: f32,
  added: u32, // 1 if there is a residual
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
@group(0) @binding(2) var<storage, read> residual: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

const THREADS = 256u;

//#include lib/sum_of_threads.wgsl

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let row = group.y * groups.x + group.x;
  let start = min(row, params.rows - 1u) * params.length;
  var sum = 0.0;
  var i = thread;
  for (; i + 3u * THREADS < params.length; i += 4u * THREADS) { // reads that do not wait
    let own = vec4f(
      x[start + i], x[start + i + THREADS], x[start + i + 2u * THREADS],
      x[start + i + 3u * THREADS]
    );
    sum += dot(own, own);
  }
  for (; i < params.length; i += THREADS) {
    let value = x[start + i];
    sum += value * value;
  }
  let root = sqrt(sum_of_threads(sum, thread) / f32(params.length) + params.eps);
  if (row < params.rows) {
    for (i = thread; i < params.length; i += THREADS) {
      var value = x[start + i] / root * weight[i];
      if (params.added != 0u) {
        value += residual[start + i];
      }
      y[start + i] = value;
    }
  }
}
