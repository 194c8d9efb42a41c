// Rows of float16 copied from one pitch to another: y's row r holds as many elements of x's row r
// as fit, then zeros.
//
// One thread writes one word of y, two halves, which are in two rows if the pitch is odd. A half
// after the last row keeps its value. Moves every word once, so it is limited by memory bandwidth.

struct Params {
  rows: u32,
  x_pitch: u32,
  y_pitch: u32,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(1) @binding(0) var<uniform> params: Params;

override THREADS: u32 = 256u;

// The bits of element i of y. `old` is its current word.
fn half_at(i: u32, old: u32) -> u32 {
  let row = i / params.y_pitch;
  let column = i % params.y_pitch;
  if (row >= params.rows) {
    return (old >> (16u * (i & 1u))) & 0xffffu;
  }
  if (column >= params.x_pitch) {
    return 0u;
  }
  let source = row * params.x_pitch + column;
  return (x[source >> 1u] >> (16u * (source & 1u))) & 0xffffu;
}

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_id) local: vec3u,
) {
  let word = (group.y * groups.x + group.x) * THREADS + local.x;
  if (2u * word >= params.rows * params.y_pitch) {
    return;
  }
  let old = y[word];
  y[word] = half_at(2u * word, old) | (half_at(2u * word + 1u, old) << 16u);
}
