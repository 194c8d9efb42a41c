// y[o, c, i] = (count, mean, deviations) of x[o, j, i] over the j of chunk c, where deviations is
// the sum of squared differences from the mean: x is [outer, length, inner].
//
// A thread takes four vec4s at once, finds their own mean and deviations in registers, and merges
// them by Chan's parallel form of Welford's method
// (https://doi.org/10.1080/00031305.1983.10483115), which does not cancel for large means; so are
// the threads of a chunk, in a tree. One pass reads x once. The threads stand as in reduce.wgsl.
// main_merge goes over the triples of an earlier pass, to merge chunks, or further axes: as
// main_columns, with one column in place of four.

struct Params {
  outer: u32,
  length: u32,
  inner: u32,
  chunk: u32, // elements of a chunk along the axis; the last may be shorter
  chunks: u32,
  lanes: u32, // a power of two, at most THREADS
  scale: f32, // for a variance: 1 / (count - ddof), infinite where that is 1/0
}

@group(0) @binding(0) var<storage, read> x: array<vec4f>;
@group(0) @binding(1) var<storage, read> words: array<f32>; // x once more
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

// 1: inner is a multiple of 4, so that groups of columns are vec4s
override ALIGNED: u32 = 0u;
// 1: y is not the triples but the variances, scale × deviations
override VARIANCE: u32 = 0u;
const THREADS = 256u; // in a workgroup

struct Moments {
  count: f32,
  mean: f32,
  deviations: f32,
}

// Of four columns, which have a count in common.
struct Columns {
  count: f32,
  mean: vec4f,
  deviations: vec4f,
}

var<workgroup> partial: array<Moments, THREADS>;
var<workgroup> counts: array<f32, THREADS>;
var<workgroup> means: array<vec4f, THREADS>;
var<workgroup> deviations: array<vec4f, THREADS>;

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

fn merge_columns(p: Columns, q: Columns) -> Columns {
  if (q.count == 0.0) {
    return p;
  }
  if (p.count == 0.0) {
    return q;
  }
  let count = p.count + q.count;
  let delta = q.mean - p.mean;
  let share = q.count / count;
  return Columns(
    count, p.mean + delta * share, p.deviations + q.deviations + delta * delta * p.count * share);
}

// Differences from one of the values first: equal values have no deviation, and large ones no sum
// that could overflow.
fn of_four(v0: vec4f, v1: vec4f, v2: vec4f, v3: vec4f) -> Columns {
  let d1 = v1 - v0;
  let d2 = v2 - v0;
  let d3 = v3 - v0;
  let shift = 0.25 * (d1 + (d2 + d3));
  let e1 = d1 - shift;
  let e2 = d2 - shift;
  let e3 = d3 - shift;
  return Columns(4.0, v0 + shift, (shift * shift + e1 * e1) + (e2 * e2 + e3 * e3));
}

fn column(p: Columns, k: u32) -> Moments {
  return Moments(p.count, p.mean[k], p.deviations[k]);
}

fn store(i: u32, moments: Moments) {
  if (VARIANCE != 0u) {
    y[i] = moments.deviations * params.scale;
    return;
  }
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
  let lanes = params.lanes;
  let lane = thread & (lanes - 1u);
  // row × chunks + chunk
  let which = (group.y * groups.x + group.x) * (THREADS / lanes) + thread / lanes;
  let live = which < params.outer * params.chunks;
  var found = Moments();
  if (live) {
    var begin = which * params.length;
    var end = begin + params.length;
    if (params.chunks > 1u) {
      let row = which / params.chunks * params.length;
      let start = which % params.chunks * params.chunk;
      begin = row + start;
      end = row + min(start + params.chunk, params.length);
    }
    // Words before head and from tail on are in vec4s that are not wholly the chunk's.
    let head = min((begin + 3u) & ~3u, end);
    let tail = max(end & ~3u, head);
    let stop = tail / 4u;
    var four = Columns();
    var i = head / 4u + lane;
    for (; i + 3u * lanes < stop; i += 4u * lanes) {
      four = merge_columns(
        four, of_four(x[i], x[i + lanes], x[i + 2u * lanes], x[i + 3u * lanes]));
    }
    for (; i < stop; i += lanes) {
      four = merge_columns(four, Columns(1.0, x[i], vec4f()));
    }
    found = merge(
      merge(column(four, 0u), column(four, 1u)), merge(column(four, 2u), column(four, 3u)));
    for (var edge = lane; edge < head - begin + (end - tail); edge += lanes) {
      let word = select(begin + edge, tail + (edge - (head - begin)), edge >= head - begin);
      found = merge(found, Moments(1.0, x[word / 4u][word % 4u], 0.0));
    }
  }
  partial[thread] = found;
  for (var half = lanes / 2u; half > 0u; half >>= 1u) {
    workgroupBarrier();
    if (lane < half) {
      partial[thread] = merge(partial[thread], partial[thread + half]);
    }
  }
  if (live && lane == 0u) {
    store(which, partial[thread]);
  }
}

// Words i to i + 3; what lies past the end of x is anything.
fn load_columns(i: u32) -> vec4f {
  if (ALIGNED != 0u) {
    return x[i / 4u];
  }
  return vec4f(words[i], words[i + 1u], words[i + 2u], words[i + 3u]);
}

@compute @workgroup_size(THREADS)
fn main_columns(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let lanes = params.lanes;
  let blocks = (params.inner + 4u * lanes - 1u) / (4u * lanes);
  let which = group.y * groups.x + group.x; // (outer × chunks + chunk) × blocks + block
  if (which >= params.outer * params.chunks * blocks) {
    return;
  }
  let first = 4u * (which % blocks * lanes + (thread & (lanes - 1u)));
  let output = which / blocks;
  let start = output % params.chunks * params.chunk;
  let end = min(start + params.chunk, params.length);
  let lines = THREADS / lanes;
  let step = lines * params.inner;
  var found = Columns();
  if (first < params.inner) {
    var j = start + thread / lanes;
    var at = (output / params.chunks * params.length + j) * params.inner + first;
    for (; j + 7u * lines < end; j += 8u * lines) {
      let w0 = load_columns(at);
      let w1 = load_columns(at + step);
      let w2 = load_columns(at + 2u * step);
      let w3 = load_columns(at + 3u * step);
      let w4 = load_columns(at + 4u * step);
      let w5 = load_columns(at + 5u * step);
      let w6 = load_columns(at + 6u * step);
      let w7 = load_columns(at + 7u * step);
      found = merge_columns(
        found, merge_columns(of_four(w0, w1, w2, w3), of_four(w4, w5, w6, w7)));
      at += 8u * step;
    }
    for (; j + 3u * lines < end; j += 4u * lines) {
      found = merge_columns(
        found,
        of_four(
          load_columns(at), load_columns(at + step), load_columns(at + 2u * step),
          load_columns(at + 3u * step)));
      at += 4u * step;
    }
    for (; j < end; j += lines) {
      found = merge_columns(found, Columns(1.0, load_columns(at), vec4f()));
      at += step;
    }
  }
  counts[thread] = found.count;
  means[thread] = found.mean;
  deviations[thread] = found.deviations;
  for (var half = THREADS / 2u; half >= lanes; half >>= 1u) {
    workgroupBarrier();
    if (thread < half) {
      let other = thread + half;
      found = merge_columns(found, Columns(counts[other], means[other], deviations[other]));
      counts[thread] = found.count;
      means[thread] = found.mean;
      deviations[thread] = found.deviations;
    }
  }
  if (thread < lanes) {
    for (var k = 0u; k < 4u && first + k < params.inner; k++) {
      store(output * params.inner + first + k, column(found, k));
    }
  }
}

@compute @workgroup_size(THREADS)
fn main_merge(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let lanes = params.lanes;
  let blocks = (params.inner + lanes - 1u) / lanes;
  let which = group.y * groups.x + group.x; // (outer × chunks + chunk) × blocks + block
  if (which >= params.outer * params.chunks * blocks) {
    return;
  }
  let i = which % blocks * lanes + (thread & (lanes - 1u));
  let output = which / blocks;
  let start = output % params.chunks * params.chunk;
  let end = min(start + params.chunk, params.length);
  let row = output / params.chunks * params.length;
  var found = Moments();
  if (i < params.inner) {
    for (var j = start + thread / lanes; j < end; j += THREADS / lanes) {
      let at = 3u * ((row + j) * params.inner + i);
      found = merge(found, Moments(words[at], words[at + 1u], words[at + 2u]));
    }
  }
  partial[thread] = found;
  for (var half = THREADS / 2u; half >= lanes; half >>= 1u) {
    workgroupBarrier();
    if (thread < half) {
      partial[thread] = merge(partial[thread], partial[thread + half]);
    }
  }
  if (thread < lanes && i < params.inner) {
    store(output * params.inner + i, partial[thread]);
  }
}
