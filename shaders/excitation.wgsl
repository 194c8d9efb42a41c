// gates = gate(w2 · relu(w1 · means + b1) + b2) for the channel means of each image: the excitation
// of squeeze-and-excite. `gate` is the logistic function, or alpha v + beta limited to the range
// from 0 to 1. NaN stays NaN.
//
// Each workgroup computes the hidden values of an image, and the gates of `span` filters. `source`
// has the means, or with MEAN `terms` numbers of each channel whose sum is that of its pixels: these
// themselves, or sums of rows. With PRODUCT, y is the image times the gates: each workgroup writes
// `part` elements of its filters. Otherwise y has the gates. A buffer that is not read must be bound
// too.

struct Params {
  vectors: u32, // vec4s of channels
  hidden: u32,  // at most MOST_HIDDEN
  filters: u32,
  biases: u32, // bit 0: b1 exists, bit 1: b2 exists
  is_hard: u32,
  alpha: f32,
  beta: f32,
  pixels: u32, // of a channel of the image
  terms: u32,  // of a channel of the source
  lanes: u32,  // threads that add up a channel, at most MOST_SHARES / channels
  span: u32,   // filters of a workgroup, at most FILTERS
  splits: u32, // workgroups that share these filters
  part: u32,   // elements of a workgroup
  is_added: u32, // with PRODUCT: whether the image is added
}

@group(0) @binding(0) var<storage, read> source: array<f32>;
@group(0) @binding(1) var<storage, read> image: array<f32>;
@group(0) @binding(2) var<storage, read> w1: array<vec4f>;
@group(0) @binding(3) var<storage, read> b1: array<f32>;
@group(0) @binding(4) var<storage, read> w2: array<f32>;
@group(0) @binding(5) var<storage, read> b2: array<f32>;
@group(0) @binding(6) var<storage, read_write> y: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/floats.wgsl

override MEAN: u32 = 0u;
override PRODUCT: u32 = 0u;

const THREADS = 256u;
const MOST_VECTORS = 256u;
const MOST_HIDDEN = 128u;
const LANES = 16u; // threads that add up a hidden value
const MOST_SHARES = MOST_HIDDEN * LANES;
const FILTERS = 64u;
const PARTS = THREADS / FILTERS; // threads that add up a gate

var<workgroup> given: array<vec4f, MOST_VECTORS>;
var<workgroup> shares: array<f32, MOST_SHARES>;
var<workgroup> between: array<f32, MOST_HIDDEN>;
var<workgroup> gates: array<f32, FILTERS>;

fn gate(v: f32) -> f32 {
  if (is_nan(v)) {
    return v;
  }
  if (params.is_hard != 0u) {
    return clamp(v * params.alpha + params.beta, 0.0, 1.0);
  }
  return 1.0 / (1.0 + exp(-v));
}

// The sum of every `lanes`th term of a channel.
fn sum_of(plane: u32, lane: u32) -> f32 {
  let lanes = params.lanes;
  let base = plane * params.terms;
  var sums = vec4f();
  var i = lane;
  for (; i + 3u * lanes < params.terms; i += 4u * lanes) {
    let at = base + i;
    sums += vec4f(source[at], source[at + lanes], source[at + 2u * lanes], source[at + 3u * lanes]);
  }
  for (; i < params.terms; i += lanes) {
    sums.x += source[base + i];
  }
  return sums.x + sums.y + sums.z + sums.w;
}

fn share(channel: u32, lane: u32) -> f32 {
  return shares[channel * params.lanes + lane];
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  if (MEAN != 0u) {
    let channels = 4u * params.vectors;
    for (var i = thread; i < channels * params.lanes; i += THREADS) {
      shares[i] = sum_of(group.y * channels + i / params.lanes, i % params.lanes);
    }
    workgroupBarrier();
    for (var i = thread; i < params.vectors; i += THREADS) {
      var sums = vec4f();
      for (var lane = 0u; lane < params.lanes; lane++) {
        let c = 4u * i;
        sums += vec4f(share(c, lane), share(c + 1u, lane), share(c + 2u, lane), share(c + 3u, lane));
      }
      given[i] = sums / f32(params.pixels);
    }
  } else {
    for (var i = thread; i < params.vectors; i += THREADS) {
      let at = 4u * (group.y * params.vectors + i);
      given[i] = vec4f(source[at], source[at + 1u], source[at + 2u], source[at + 3u]);
    }
  }
  workgroupBarrier();
  let lane = thread % LANES;
  for (var row = thread / LANES; row < params.hidden; row += THREADS / LANES) {
    var sum = vec4f();
    for (var i = lane; i < params.vectors; i += LANES) {
      sum += w1[row * params.vectors + i] * given[i];
    }
    shares[row * LANES + lane] = sum.x + sum.y + sum.z + sum.w;
  }
  workgroupBarrier();
  if (thread < params.hidden) {
    var sum = 0.0;
    for (var i = 0u; i < LANES; i++) {
      sum += shares[thread * LANES + i];
    }
    if ((params.biases & 1u) != 0u) {
      sum += b1[thread];
    }
    between[thread] = select(max(sum, 0.0), sum, is_nan(sum));
  }
  workgroupBarrier();
  let first = group.x / params.splits * params.span;
  let count = min(params.span, params.filters - first);
  var part = 0.0;
  if (thread / PARTS < count) {
    let place = first + thread / PARTS;
    for (var i = thread % PARTS; i < params.hidden; i += PARTS) {
      part += w2[place * params.hidden + i] * between[i];
    }
  }
  shares[thread] = part;
  workgroupBarrier();
  if (thread < count) {
    var sum = 0.0;
    for (var i = 0u; i < PARTS; i++) {
      sum += shares[thread * PARTS + i];
    }
    if ((params.biases & 2u) != 0u) {
      sum += b2[first + thread];
    }
    let own = gate(sum);
    if (PRODUCT == 0u) {
      y[group.y * params.filters + first + thread] = own;
    } else {
      gates[thread] = own;
    }
  }
  if (PRODUCT == 0u) {
    return;
  }
  workgroupBarrier();
  let base = (group.y * params.filters + first) * params.pixels;
  let begin = group.x % params.splits * params.part;
  let end = min(begin + params.part, count * params.pixels);
  for (var i = begin + thread; i < end; i += THREADS) {
    let own = image[base + i];
    let scaled = own * gates[i / params.pixels];
    y[base + i] = select(scaled, own + scaled, params.is_added != 0u);
  }
}
