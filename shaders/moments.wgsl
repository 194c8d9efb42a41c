// y[o, c, i] = (count, mean, deviations) of x[o, j, i] over the j of chunk c, where deviations is
// the sum of squared differences from the mean: x is [outer, length, inner].
//
// Chan's parallel form of Welford's method (https://doi.org/10.1080/00031305.1983.10483115), which
// does not cancel for large means. One pass reads x once; with MERGE, x holds the triples of an
// earlier pass, so that further passes go over the chunks, or over other axes. main_rows (inner =
// 1) gives a chunk to a workgroup, whose threads combine in a tree; main_columns gives one chunk
// of one column to each thread.

struct Params {
  outer: u32,
  length: u32,
  inner: u32,
  chunk: u32, // elements of a chunk along the axis; the last may be shorter
  chunks: u32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

override MERGE: u32 = 0u;
override THREADS: u32 = 256u; // in a workgroup; a power of two

struct Moments {
  count: f32,
  mean: f32,
  deviations: f32,
}

var<workgroup> partial: array<Moments, THREADS>;

fn merge(p: Moments, q: Moments) -> Moments {
  if (q.count == 0.0) {
    return p;
  }
  if (p.count == 0.0) { // else delta² may overflow, and times 0 be NaN
    return q;
  }
  let count = p.count + q.count;
  let delta = q.mean - p.mean;
  let share = q.count / count;
  return Moments(
    count, p.mean + delta * share, p.deviations + q.deviations + delta * delta * p.count * share);
}

fn load(i: u32) -> Moments {
  if (MERGE != 0u) {
    return Moments(x[3u * i], x[3u * i + 1u], x[3u * i + 2u]);
  }
  return Moments(1.0, x[i], 0.0);
}

fn store(i: u32, moments: Moments) {
  y[3u * i] = moments.count;
  y[3u * i + 1u] = moments.mean;
  y[3u * i + 2u] = moments.deviations;
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
  var moments = Moments();
  for (var j = start + thread; j < end; j += THREADS) {
    moments = merge(moments, load(row * params.length + j));
  }
  partial[thread] = moments;
  for (var half = THREADS / 2u; half > 0u; half >>= 1u) {
    workgroupBarrier();
    if (thread < half) {
      partial[thread] = merge(partial[thread], partial[thread + half]);
    }
  }
  if (thread == 0u) {
    store(which, partial[0]);
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
  var moments = Moments();
  for (var j = start; j < end; j++) {
    moments = merge(moments, load((o * params.length + j) * params.inner + column));
  }
  store(which, moments);
}
