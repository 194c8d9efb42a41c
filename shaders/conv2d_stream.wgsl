// Two-dimensional cross-correlation with 1 × 1 windows and no padding, NCHW: y[n, f, p, q] = sum
// over c of x[n, c, p stride_h, q stride_w] w[f, c]. It is for few outputs with long sums.
// Workgroup memory holds only the sums at the end, so threads do not wait for each other before.
//
// A workgroup computes 16 filters of 16 pixels. 16 threads compute 4 filters of 4 pixels each,
// directly from storage, 8 channels at a time. 16 such shares take every 16th group of 4 channels
// and are added. Weights are read as vec4f, so channels must be a multiple of 4. With VECTOR,
// pixels are read as vec4f too: stride 1, and a multiple of 4 pixels. z is image × group. Cost: 2 N
// F P Q C / groups operations.

struct Params {
  channels: u32, // of one group
  height: u32,
  width: u32,
  filters: u32, // of one group
  out_h: u32,
  out_w: u32,
  stride_h: u32,
  stride_w: u32,
  groups: u32,
  added: u32, // whether each filter has a bias; with AFTER as in lib/convolution_end.wgsl
  first_z: u32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> x_vectors: array<vec4f>; // the same buffer as x
@group(0) @binding(2) var<storage, read> w: array<vec4f>;
@group(0) @binding(3) var<storage, read> bias: array<f32>;
@group(0) @binding(4) var<storage, read> scale: array<f32>;
@group(0) @binding(5) var<storage, read> residual: array<f32>;
@group(0) @binding(6) var<storage, read_write> y: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/convolution_end.wgsl

override VECTOR: u32 = 0u;

const SHARES = 16u;
const SUMS = 16u; // threads per share
const THREADS = SHARES * SUMS;

var<workgroup> parts: array<vec4f, 4u * THREADS>;

// 4 pixels of a channel.
fn pixels_at(channel: u32, at: vec4u) -> vec4f {
  if (VECTOR != 0u) {
    return x_vectors[(channel + at.x) / 4u];
  }
  return vec4f(x[channel + at.x], x[channel + at.y], x[channel + at.z], x[channel + at.w]);
}

// 4 channels of 4 pixels, starting at an element of a channel.
fn inputs_at(channel: u32, area: u32, at: vec4u) -> mat4x4f {
  return mat4x4f(
    pixels_at(channel, at),
    pixels_at(channel + area, at),
    pixels_at(channel + 2u * area, at),
    pixels_at(channel + 3u * area, at),
  );
}

// Adds to the sums of 4 pixels the products of 4 channels and the weights of one filter.
fn plus(sums: vec4f, weights: vec4f, inputs: mat4x4f) -> vec4f {
  let two = fma(vec4f(weights.y), inputs[1], fma(vec4f(weights.x), inputs[0], sums));
  return fma(vec4f(weights.w), inputs[3], fma(vec4f(weights.z), inputs[2], two));
}

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let pixels = params.out_h * params.out_w;
  let area = params.height * params.width;
  let tile_filters = (params.filters + 15u) / 16u;
  let tile_pixels = (pixels + 15u) / 16u;
  let tile = workgroup.y * workgroups.x + workgroup.x;
  if (tile >= tile_filters * tile_pixels) {
    return;
  }
  let filter0 = tile % tile_filters * 16u;
  let pixel0 = tile / tile_filters * 16u;
  let z = params.first_z + workgroup.z; // image × groups + group
  let share = thread / SUMS;
  let strip = thread % 4u; // 4 pixels
  let quad = thread / 4u % 4u; // 4 filters

  // Pixels and filters outside are computed from the last ones and not stored.
  let inside = pixel0 + 4u * strip + vec4u(0u, 1u, 2u, 3u);
  var at = min(inside, vec4u(pixels - 1u));
  if (VECTOR == 0u) {
    at = at / params.out_w * params.stride_h * params.width
      + at % params.out_w * params.stride_w;
  } else {
    at = min(at, vec4u(pixels - 4u));
  }
  let quads = params.channels / 4u;
  let w_base = z % params.groups * params.filters;
  let rows = (w_base + min(
    filter0 + 4u * quad + vec4u(0u, 1u, 2u, 3u),
    vec4u(params.filters - 1u),
  )) * quads;
  let x_base = z * params.channels * area;
  var sums0 = vec4f();
  var sums1 = vec4f();
  var sums2 = vec4f();
  var sums3 = vec4f();
  var k = share;
  for (; k + SHARES < quads; k += 2u * SHARES) {
    let left = inputs_at(x_base + 4u * k * area, area, at);
    let right = inputs_at(x_base + 4u * (k + SHARES) * area, area, at);
    sums0 = plus(plus(sums0, w[rows.x + k], left), w[rows.x + k + SHARES], right);
    sums1 = plus(plus(sums1, w[rows.y + k], left), w[rows.y + k + SHARES], right);
    sums2 = plus(plus(sums2, w[rows.z + k], left), w[rows.z + k + SHARES], right);
    sums3 = plus(plus(sums3, w[rows.w + k], left), w[rows.w + k + SHARES], right);
  }
  if (k < quads) {
    let last = inputs_at(x_base + 4u * k * area, area, at);
    sums0 = plus(sums0, w[rows.x + k], last);
    sums1 = plus(sums1, w[rows.y + k], last);
    sums2 = plus(sums2, w[rows.z + k], last);
    sums3 = plus(sums3, w[rows.w + k], last);
  }

  // [filter of a quad][share][quad, strip]; 64 threads add up the shares of 4 pixels each.
  parts[thread] = sums0;
  parts[THREADS + thread] = sums1;
  parts[2u * THREADS + thread] = sums2;
  parts[3u * THREADS + thread] = sums3;
  workgroupBarrier();
  let filter_index = filter0 + 4u * quad + thread / SUMS;
  if (thread >= 4u * SUMS || filter_index >= params.filters) {
    return;
  }
  var sum = vec4f();
  for (var i = 0u; i < SHARES; i++) {
    sum += parts[thread / SUMS * THREADS + i * SUMS + thread % SUMS];
  }
  if (AFTER == 0u && params.added != 0u) {
    sum += bias[w_base + filter_index];
  }
  let y_base = (z * params.filters + filter_index) * pixels;
  for (var j = 0u; j < 4u; j++) {
    if (inside[j] < pixels) {
      let at = y_base + inside[j];
      //#if AFTER
      if (AFTER != 0u) {
        y[at] = ended(sum[j], w_base + filter_index, at);
        continue;
      }
      //#endif
      y[at] = sum[j];
    }
  }
}
