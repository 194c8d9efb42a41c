// y[o, c, i] = (count, pivot, mean, deviations) of x[o, j, i] over the j of chunk c, for x of
// [outer, length, inner]. `deviations` is the sum of squared differences from the mean.
//
// Means are means of the differences from the pivot, x[o, 0, i]. In float32, a mean far from 0 has
// too few digits for differences between means, but the mean of differences has all of them.
//
// A thread takes four vec4s at once, computes their mean and deviations in registers, and merges
// them by Chan's parallel form of Welford's method
// (https://doi.org/10.1080/00031305.1983.10483115), without cancellation for large means. The
// threads of a chunk are merged likewise, in a tree. One pass reads x once. Threads are arranged as
// in arg_reduce.wgsl. main_merge merges the quadruples of an earlier pass, over chunks or further
// axes: like main_columns, with one column instead of four. main_statistics does so for the channels
// of a batch norm, as `statistics` of batch_norm.wgsl.
//
// As in NumPy, deviations of NaN and infinities are NaN, and those of values too far apart for
// float32 are infinite.

struct Params {
  outer: u32,
  length: u32,
  inner: u32,
  chunk: u32, // elements of a chunk along the axis; the last may be shorter
  chunks: u32,
  lanes: u32, // a power of two, at most THREADS
  scale: f32, // for a variance: 1 / (count - ddof), infinite for 1/0
  momentum: f32, // weight of the batch in the running statistics
  unbiased: f32, // count / (count - 1)
}

@group(0) @binding(0) var<storage, read> x: array<vec4f>;
@group(0) @binding(1) var<storage, read> words: array<f32>; // x once more
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<storage, read_write> batch_mean: array<f32>;
@group(0) @binding(3) var<storage, read_write> batch_variance: array<f32>;
@group(0) @binding(4) var<storage, read_write> running_mean: array<f32>;
@group(0) @binding(5) var<storage, read_write> running_variance: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

// 1: inner is a multiple of 4, so groups of columns are vec4s
override ALIGNED: u32 = 0u;

// Four neighbouring columns: words i to i + 3, undefined past the end of x.
fn load_columns(i: u32) -> vec4f {
  if (ALIGNED != 0u) {
    return x[i / 4u];
  }
  return vec4f(words[i], words[i + 1u], words[i + 2u], words[i + 3u]);
}

//#include lib/batch_statistics.wgsl
//#include lib/moments.wgsl

// 1: y is the variances, scale × deviations, instead of the quadruples
override VARIANCE: u32 = 0u;
const THREADS = 256u; // in a workgroup

// Moments of four columns with the same count.
struct Columns {
  count: f32,
  mean: vec4f,
  deviations: vec4f,
}

var<workgroup> partial: array<Moments, THREADS>;
var<workgroup> counts: array<f32, THREADS>;
var<workgroup> means: array<vec4f, THREADS>;
var<workgroup> deviations: array<vec4f, THREADS>;

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

fn is_finite(v: f32) -> bool {
  return (bitcast<u32>(v) & 0x7fffffffu) < 0x7f800000u;
}

// Deviations if the mean is not finite: NaN, or infinite if all values are finite. Made from bits
// in a variable, since WGSL refuses both in constant expressions.
fn beyond(all_finite: bool) -> f32 {
  var bits = select(0x7fc00000u, 0x7f800000u, all_finite);
  return bitcast<f32>(bits);
}

// Differences from one of the values first, so that equal values have no deviation, and large ones
// no overflowing sum.
fn of_four(v0: vec4f, v1: vec4f, v2: vec4f, v3: vec4f, pivot: vec4f) -> Columns {
  let d1 = v1 - v0;
  let d2 = v2 - v0;
  let d3 = v3 - v0;
  let shift = 0.25 * (d1 + (d2 + d3));
  let e1 = d1 - shift;
  let e2 = d2 - shift;
  let e3 = d3 - shift;
  return Columns(
    4.0, less(v0, pivot) + shift, (shift * shift + e1 * e1) + (e2 * e2 + e3 * e3));
}

fn column(p: Columns, k: u32) -> Moments {
  return Moments(p.count, p.mean[k], p.deviations[k]);
}

fn store(i: u32, pivot: f32, moments: Moments) {
  if (VARIANCE != 0u) {
    y[i] = moments.deviations * params.scale;
    return;
  }
  y[4u * i] = moments.count;
  y[4u * i + 1u] = pivot;
  y[4u * i + 2u] = moments.mean;
  y[4u * i + 3u] = moments.deviations;
}

fn word(i: u32) -> f32 {
  return x[i / 4u][i % 4u];
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
  var pivot = 0.0;
  var begin = which * params.length;
  var end = begin + params.length;
  if (live) {
    var row = begin;
    if (params.chunks > 1u) {
      row = which / params.chunks * params.length;
      let start = which % params.chunks * params.chunk;
      begin = row + start;
      end = row + min(start + params.chunk, params.length);
    }
    pivot = word(row);
    let pivots = vec4f(pivot);
    // Words before head and from tail on are in vec4s that are only partly in the chunk.
    let head = min((begin + 3u) & ~3u, end);
    let tail = max(end & ~3u, head);
    let stop = tail / 4u;
    var four = Columns();
    var i = head / 4u + lane;
    for (; i + 3u * lanes < stop; i += 4u * lanes) {
      four = merge_columns(
        four, of_four(x[i], x[i + lanes], x[i + 2u * lanes], x[i + 3u * lanes], pivots));
    }
    for (; i < stop; i += lanes) {
      four = merge_columns(four, Columns(1.0, less(x[i], pivots), vec4f()));
    }
    found = merge(
      merge(column(four, 0u), column(four, 1u)), merge(column(four, 2u), column(four, 3u)));
    for (var edge = lane; edge < head - begin + (end - tail); edge += lanes) {
      let at = select(begin + edge, tail + (edge - (head - begin)), edge >= head - begin);
      found = merge(found, Moments(1.0, less(vec4f(word(at)), pivots).x, 0.0));
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
    found = partial[thread];
    if (!is_finite(found.mean)) {
      var all_finite = true;
      for (var i = begin; i < end; i++) {
        all_finite = all_finite && is_finite(word(i));
      }
      found.deviations = beyond(all_finite);
    }
    store(which, pivot, found);
  }
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
  let top = output / params.chunks * params.length * params.inner + first;
  var found = Columns();
  var pivot = vec4f();
  if (first < params.inner) {
    pivot = load_columns(top);
    var j = start + thread / lanes;
    var at = top + j * params.inner;
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
        found, merge_columns(of_four(w0, w1, w2, w3, pivot), of_four(w4, w5, w6, w7, pivot)));
      at += 8u * step;
    }
    for (; j + 3u * lines < end; j += 4u * lines) {
      found = merge_columns(
        found,
        of_four(
          load_columns(at), load_columns(at + step), load_columns(at + 2u * step),
          load_columns(at + 3u * step), pivot));
      at += 4u * step;
    }
    for (; j < end; j += lines) {
      found = merge_columns(found, Columns(1.0, less(load_columns(at), pivot), vec4f()));
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
      var own = column(found, k);
      if (!is_finite(own.mean)) {
        var all_finite = true;
        for (var j = start; j < end; j++) {
          all_finite = all_finite && is_finite(words[top + k + j * params.inner]);
        }
        own.deviations = beyond(all_finite);
      }
      store(output * params.inner + first + k, pivot[k], own);
    }
  }
}

struct Merged {
  is_own: bool, // whether this thread stores an output
  output: u32,
  pivot: f32,
  moments: Moments,
}

fn merge_quadruples(group: vec3u, groups: vec3u, thread: u32) -> Merged {
  let lanes = params.lanes;
  let blocks = (params.inner + lanes - 1u) / lanes;
  let which = group.y * groups.x + group.x; // (outer × chunks + chunk) × blocks + block
  if (which >= params.outer * params.chunks * blocks) {
    return Merged();
  }
  let i = which % blocks * lanes + (thread & (lanes - 1u));
  let output = which / blocks;
  let start = output % params.chunks * params.chunk;
  let end = min(start + params.chunk, params.length);
  let top = 4u * (output / params.chunks * params.length * params.inner + i);
  let step = 4u * params.inner;
  var found = Moments();
  var pivot = 0.0;
  if (i < params.inner) {
    pivot = words[top + 1u];
    for (var j = start + thread / lanes; j < end; j += THREADS / lanes) {
      let at = top + j * step;
      let mean = less(vec4f(words[at + 1u]), vec4f(pivot)).x + words[at + 2u];
      found = merge(found, Moments(words[at], mean, words[at + 3u]));
    }
  }
  partial[thread] = found;
  for (var half = THREADS / 2u; half >= lanes; half >>= 1u) {
    workgroupBarrier();
    if (thread < half) {
      partial[thread] = merge(partial[thread], partial[thread + half]);
    }
  }
  let is_own = thread < lanes && i < params.inner;
  if (is_own) {
    found = partial[thread];
    if (!is_finite(found.mean)) {
      var all_finite = true; // of the values, whether or not of their deviations
      for (var j = start; j < end; j++) {
        let deviations = bitcast<u32>(words[top + j * step + 3u]) & 0x7fffffffu;
        all_finite = all_finite && deviations <= 0x7f800000u;
      }
      found.deviations = beyond(all_finite);
    }
  }
  return Merged(is_own, output * params.inner + i, pivot, found);
}

@compute @workgroup_size(THREADS)
fn main_merge(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let found = merge_quadruples(group, groups, thread);
  if (found.is_own) {
    store(found.output, found.pivot, found.moments);
  }
}

@compute @workgroup_size(THREADS)
fn main_statistics(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let found = merge_quadruples(group, groups, thread);
  if (found.is_own) {
    let variance = found.moments.deviations / found.moments.count;
    store_statistics(found.output, found.pivot + found.moments.mean, variance);
  }
}
