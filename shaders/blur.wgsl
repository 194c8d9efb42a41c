// One direction of a separable Gaussian blur of an image [height, width, channels]: y[p] = sum over
// |t| <= radius of w(t) x[p + t], w(t) = exp(-t² / 2 sigma²) / their sum.
//
// The border is replicated. A workgroup of 256 threads computes 256 neighbours along the direction.
// It loads them and the radius on either side into workgroup memory once, in several steps for a
// large radius, so any sigma works. Two dispatches, along rows and along columns, cost 2 (2 radius
// + 1) operations per element instead of (2 radius + 1)².

struct Params {
  lines: u32,   // rows for the horizontal pass, columns for the vertical one
  length: u32,  // elements per line
  line_step: u32, // words from one line to the next
  step: u32,      // words from one element of a line to the next
  channels: u32,
  segments: u32,  // workgroups per line
  radius: u32,
  exponent: f32,  // -1 / (2 sigma²)
  norm: f32,      // 1 / the sum of the weights
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

// 1 in the last pass, which clamps results to 0..1
override CLAMP: u32 = 0u;

const THREADS = 256u;

var<workgroup> window: array<f32, 2u * THREADS>;

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let which = group.y * groups.x + group.x; // (line × channels + channel) × segments + segment
  if (which >= params.lines * params.channels * params.segments) {
    return;
  }
  let segment = which % params.segments;
  let channel = which / params.segments % params.channels;
  let base = which / params.segments / params.channels * params.line_step + channel;
  let position = segment * THREADS + thread;
  let last = i32(params.length) - 1;
  let radius = i32(params.radius);
  var sum = 0.0;
  // Offsets from -radius to radius, 256 of them at a time: thread i needs words i to i + 255.
  for (var first = -radius; first <= radius; first += i32(THREADS)) {
    for (var i = thread; i < 2u * THREADS; i += THREADS) {
      let at = clamp(i32(segment * THREADS + i) + first, 0, last);
      window[i] = x[base + u32(at) * params.step];
    }
    workgroupBarrier();
    for (var t = 0; t < i32(THREADS); t++) {
      let offset = first + t;
      if (offset <= radius) {
        let distance = f32(offset);
        sum += exp(distance * distance * params.exponent) * window[thread + u32(t)];
      }
    }
    workgroupBarrier();
  }
  if (position < params.length) {
    let value = sum * params.norm;
    y[base + position * params.step] = select(value, clamp(value, 0.0, 1.0), CLAMP == 1u);
  }
}
