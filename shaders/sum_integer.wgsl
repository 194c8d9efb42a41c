// y[o, c, i] = sum of x[o, j, i] over the j of chunk c, modulo 2^32: whole numbers, whose sums
// have the same bits for i32 and u32 and do not depend on their order. x is [outer, length,
// inner]. One chunk of one column a thread; the caller runs further passes over the chunks.

struct Params {
  outer: u32,
  length: u32,
  inner: u32,
  chunk: u32,
  chunks: u32,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(1) @binding(0) var<uniform> params: Params;

override THREADS: u32 = 256u; // in a workgroup

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let which = id.y * groups.x * THREADS + id.x; // (outer × chunks + chunk) × inner + column
  if (which >= params.outer * params.chunks * params.inner) {
    return;
  }
  let column = which % params.inner;
  let o = which / params.inner / params.chunks;
  let start = which / params.inner % params.chunks * params.chunk;
  let end = min(start + params.chunk, params.length);
  var sum = 0u;
  for (var j = start; j < end; j++) {
    sum += x[(o * params.length + j) * params.inner + column];
  }
  y[which] = sum;
}
