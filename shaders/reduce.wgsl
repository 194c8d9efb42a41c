// y[o, c, i] = reduction of x[o, j, i] over the j of chunk c: x is [outer, length, inner].
//
// One pass reads x once; the caller runs further passes over the chunks until one is left.
// Two entry points: main_rows (inner = 1) gives a chunk to a workgroup, whose threads read
// neighbouring words and combine in a tree; main_columns gives one chunk of one column to each
// thread, so that neighbouring threads read neighbouring columns. Sums are therefore pairwise
// enough for float32: no running sum is longer than a chunk.
// NaN propagates as in NumPy; it is told by its bits, since WGSL lets an implementation assume
// that it does not occur.

struct Params {
  outer: u32,
  length: u32,
  inner: u32,
  chunk: u32,     // elements of a chunk along the axis; the last may be shorter
  chunks: u32,
  identity: f32,  // 0 or an infinity, which WGSL cannot write as a constant
  scale: f32,     // the result is multiplied by it: 1/length in a mean's last pass
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

// 0 sum (and mean), 1 max, 2 min
override OP: u32 = 0u;
override THREADS: u32 = 256u; // in a workgroup; a power of two

var<workgroup> partial: array<f32, THREADS>;

fn is_nan(v: f32) -> bool {
  return (bitcast<u32>(v) & 0x7fffffffu) > 0x7f800000u;
}

fn combine(p: f32, q: f32) -> f32 {
  switch (OP) {
    case 0u: { return p + q; }
    case 1u: { return select(select(max(p, q), q, is_nan(q)), p, is_nan(p)); }
    default: { return select(select(min(p, q), q, is_nan(q)), p, is_nan(p)); }
  }
}

// A factor of 1 must not touch the value: 1 × NaN may lose the NaN under fast math.
fn scaled(value: f32) -> f32 {
  if (params.scale == 1.0) {
    return value;
  }
  return value * params.scale;
}

@compute @workgroup_size(THREADS)
fn main_rows(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let which = group.y * groups.x + group.x; // row × chunks + chunk
  if (which >= params.outer * params.chunks) {
    return;
  }
  let row = which / params.chunks;
  let start = which % params.chunks * params.chunk;
  let end = min(start + params.chunk, params.length);
  var value = params.identity;
  for (var j = start + thread; j < end; j += THREADS) {
    value = combine(value, x[row * params.length + j]);
  }
  partial[thread] = value;
  for (var half = THREADS / 2u; half > 0u; half >>= 1u) {
    workgroupBarrier();
    if (thread < half) {
      partial[thread] = combine(partial[thread], partial[thread + half]);
    }
  }
  if (thread == 0u) {
    y[which] = scaled(partial[0]);
  }
}

@compute @workgroup_size(THREADS)
fn main_columns(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let which = id.y * groups.x * THREADS + id.x; // (outer × chunks + chunk) × inner + column
  if (which >= params.outer * params.chunks * params.inner) {
    return;
  }
  let column = which % params.inner;
  let o = which / params.inner / params.chunks;
  let start = which / params.inner % params.chunks * params.chunk;
  let end = min(start + params.chunk, params.length);
  var value = params.identity;
  for (var j = start; j < end; j++) {
    value = combine(value, x[(o * params.length + j) * params.inner + column]);
  }
  y[which] = scaled(value);
}
