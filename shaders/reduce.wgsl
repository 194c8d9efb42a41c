// y[o, c, i] = reduction of x[o, j, i] over the j of chunk c: x is [outer, length, inner].
//
// One pass reads x once, as vec4s of which each thread has four or eight on their way at once; the
// caller runs further passes over the chunks until one is left. main_rows (inner = 1) gives a chunk to
// `lanes` neighbouring threads of a workgroup. main_columns gives a workgroup `lanes` groups of
// four neighbouring columns of one chunk, so that its threads stand in lines of `lanes`, each
// line on another row. What the threads of a chunk have found is combined in a tree. Sums are
// therefore pairwise enough for float32: a running sum is never longer than a share of a chunk.
// NaN propagates as in NumPy; it is told by its bits, since WGSL lets an implementation assume
// that it does not occur.

struct Params {
  outer: u32,
  length: u32,
  inner: u32,
  chunk: u32,     // elements of a chunk along the axis; the last may be shorter
  chunks: u32,
  lanes: u32,     // a power of two, at most THREADS
  identity: f32,  // 0 or an infinity, which WGSL cannot write as a constant
  scale: f32,     // the result is multiplied by it: 1/length in a mean's last pass
}

@group(0) @binding(0) var<storage, read> x: array<vec4f>;
@group(0) @binding(1) var<storage, read> words: array<f32>; // x once more
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/columns.wgsl
//#include lib/floats.wgsl

// 0 sum (and mean), 1 max, 2 min
override OP: u32 = 0u;
override THREADS: u32 = 256u; // in a workgroup; a power of two

var<workgroup> partial: array<f32, THREADS>;
var<workgroup> partial_columns: array<vec4f, THREADS>;

fn combine(p: vec4f, q: vec4f) -> vec4f {
  switch (OP) {
    case 0u: { return p + q; }
    case 1u: { return select(select(max(p, q), q, are_nan(q)), p, are_nan(p)); }
    case 2u, default: { return select(select(min(p, q), q, are_nan(q)), p, are_nan(p)); }
  }
}

// A factor of 1 must not touch the value: 1 × NaN may lose the NaN under fast math.
fn scaled(value: vec4f) -> vec4f {
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
  let lanes = params.lanes;
  let lane = thread & (lanes - 1u);
  // row × chunks + chunk
  let which = (group.y * groups.x + group.x) * (THREADS / lanes) + thread / lanes;
  let live = which < params.outer * params.chunks;
  var v0 = vec4f(params.identity);
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
    var v1 = v0;
    var v2 = v0;
    var v3 = v0;
    var i = head / 4u + lane;
    for (; i + 3u * lanes < stop; i += 4u * lanes) {
      let w0 = x[i];
      let w1 = x[i + lanes];
      let w2 = x[i + 2u * lanes];
      let w3 = x[i + 3u * lanes];
      v0 = combine(v0, w0);
      v1 = combine(v1, w1);
      v2 = combine(v2, w2);
      v3 = combine(v3, w3);
    }
    for (; i < stop; i += lanes) {
      v0 = combine(v0, x[i]);
    }
    for (var edge = lane; edge < head - begin + (end - tail); edge += lanes) {
      let word = select(begin + edge, tail + (edge - (head - begin)), edge >= head - begin);
      v1.x = combine(v1, vec4f(x[word / 4u][word % 4u])).x;
    }
    v0 = combine(combine(v0, v1), combine(v2, v3));
    v0 = combine(v0, v0.zwxy);
    v0 = combine(v0, v0.yxwz);
  }
  var value = v0.x;
  partial[thread] = value;
  for (var rest = lanes; rest > 1u;) { // each step leaves a quarter
    let step = (rest + 3u) / 4u;
    workgroupBarrier();
    if (lane < step) {
      for (var other = step; other < rest; other += step) {
        value = combine(vec4f(value), vec4f(partial[thread + other])).x;
      }
      partial[thread] = value;
    }
    rest = step;
  }
  if (live && lane == 0u) {
    y[which] = scaled(vec4f(value)).x;
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
  let column = 4u * (which % blocks * lanes + (thread & (lanes - 1u)));
  let output = which / blocks;
  let start = output % params.chunks * params.chunk;
  let end = min(start + params.chunk, params.length);
  let lines = THREADS / lanes;
  let step = lines * params.inner;
  var v0 = vec4f(params.identity);
  if (column < params.inner) {
    var v1 = v0;
    var v2 = v0;
    var v3 = v0;
    var v4 = v0; // combined late, since that lets a GPU have all eight loads on their way
    var v5 = v0;
    var v6 = v0;
    var v7 = v0;
    var j = start + thread / lanes;
    var at = (output / params.chunks * params.length + j) * params.inner + column;
    for (; j + 7u * lines < end; j += 8u * lines) {
      v0 = combine(v0, load_columns(at));
      v1 = combine(v1, load_columns(at + step));
      v2 = combine(v2, load_columns(at + 2u * step));
      v3 = combine(v3, load_columns(at + 3u * step));
      v4 = combine(v4, load_columns(at + 4u * step));
      v5 = combine(v5, load_columns(at + 5u * step));
      v6 = combine(v6, load_columns(at + 6u * step));
      v7 = combine(v7, load_columns(at + 7u * step));
      at += 8u * step;
    }
    v0 = combine(v0, v4);
    v1 = combine(v1, v5);
    v2 = combine(v2, v6);
    v3 = combine(v3, v7);
    for (; j + 3u * lines < end; j += 4u * lines) {
      v0 = combine(v0, load_columns(at));
      v1 = combine(v1, load_columns(at + step));
      v2 = combine(v2, load_columns(at + 2u * step));
      v3 = combine(v3, load_columns(at + 3u * step));
      at += 4u * step;
    }
    for (; j < end; j += lines) {
      v0 = combine(v0, load_columns(at));
      at += step;
    }
    v0 = combine(combine(v0, v1), combine(v2, v3));
  }
  partial_columns[thread] = v0;
  for (var half = THREADS / 2u; half >= lanes; half >>= 1u) {
    workgroupBarrier();
    if (thread < half) {
      partial_columns[thread] = combine(partial_columns[thread], partial_columns[thread + half]);
    }
  }
  if (thread < lanes) {
    let value = scaled(partial_columns[thread]);
    for (var k = 0u; k < 4u && column + k < params.inner; k++) {
      y[output * params.inner + column + k] = value[k];
    }
  }
}
