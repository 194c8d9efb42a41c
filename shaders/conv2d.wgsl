// Two-dimensional cross-correlation (the convolution of neural networks), NCHW: y[n, f, p, q] = sum
// over c, r, s of x[n, c, p stride_h + r dilation_h - pad_h, q …] w[f, c, r, s] with zeros outside
// x.
//
// Implicit GEMM: rows are the filters of one group, columns the output pixels of one image, and the
// sum is over (c, r, s). The im2col matrix exists only as tiles in workgroup memory. A workgroup
// computes a tile of FILTERS × PIXELS, SHARES × DEPTH steps at a time. A thread holds 8 × 4 sums
// over the DEPTH steps of its share, and the shares are added at the end. The next tile is fetched
// into registers meanwhile. A thread's vec4s hold lines of the tile that are a quarter of the tile
// apart, so that neighbours in a warp read and write neighbouring elements.
//
// z is image × group × part. With chunk < steps, partial sums are written to y one after the other,
// for conv2d_sum. Cost: 2 N F P Q C R S / groups operations. POINTWISE is for 1 × 1 windows without
// padding. For a missing bias, scale or residual, a buffer must be bound but is not read.

struct Params {
  channels: u32, // of one group
  height: u32,
  width: u32,
  filters: u32, // of one group
  kernel_h: u32,
  kernel_w: u32,
  out_h: u32,
  out_w: u32,
  stride: u32, // vertical in the low 16 bits, horizontal in the high ones
  pad_h: u32,
  pad_w: u32,
  dilation: u32, // as stride
  groups: u32,
  added: u32, // whether each filter has a bias; with AFTER as in lib/convolution_end.wgsl
  chunk: u32, // steps per part of the sum
  first_z: u32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> w: array<f32>;
@group(0) @binding(2) var<storage, read> bias: array<f32>;
@group(0) @binding(3) var<storage, read> scale: array<f32>;
@group(0) @binding(4) var<storage, read> residual: array<f32>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/convolution_end.wgsl

override POINTWISE: u32 = 0u;
override FILTERS: u32 = 64u;
override PIXELS: u32 = 64u;
override SHARES: u32 = 1u;
override DEPTH: u32 = 16u;
override SPACE: u32 = 528u; // vec4s of workgroup memory, for both tiles and for the shares

var<workgroup> tile: array<vec4f, SPACE>; // [step][filters], [step][pixels]; [share][sums][thread]

// Four filters' weights of one step.
fn weights_at(at: u32, row: u32) -> vec4f {
  return vec4f(w[at], w[at + row], w[at + 2u * row], w[at + 3u * row]);
}

// Position of a step in the window: (s, r, c).
fn window_at(step: u32) -> vec3u {
  if (POINTWISE != 0u) {
    return vec3u(0u, 0u, step);
  }
  let row = step / params.kernel_w;
  return vec3u(step % params.kernel_w, row % params.kernel_h, row / params.kernel_h);
}

fn moved(place: vec3u, by: vec3u) -> vec3u {
  var to = place + by;
  if (POINTWISE == 0u) {
    let right = to.x >= params.kernel_w;
    to -= select(vec3u(), vec3u(params.kernel_w, 0u, 0u), right);
    to.y += select(0u, 1u, right);
    let below = to.y >= params.kernel_h;
    to -= select(vec3u(), vec3u(0u, params.kernel_h, 0u), below);
    to.z += select(0u, 1u, below);
  }
  return to;
}

// Distance in x from a window's first input to its input at a position.
fn distance_of(place: vec3u) -> u32 {
  if (POINTWISE != 0u) {
    return place.z * params.height * params.width;
  }
  return (place.z * params.height + place.y * (params.dilation & 0xffffu)) * params.width
    + place.x * (params.dilation >> 16u);
}

// Which of four windows have this position inside x.
fn inside(rows: vec4u, columns: vec4u, place: vec3u) -> vec4<bool> {
  if (POINTWISE != 0u) {
    return vec4<bool>(true);
  }
  return (rows + place.y * (params.dilation & 0xffffu) < vec4u(params.height))
    & (columns + place.x * (params.dilation >> 16u) < vec4u(params.width));
}

fn inputs_at(at: vec4u) -> vec4f {
  return vec4f(x[at.x], x[at.y], x[at.z], x[at.w]);
}

fn store(z: u32, filters_before: u32, filter_index: u32, pixel: u32, pixels: u32, sums: vec4f) {
  if (filter_index >= params.filters) {
    return;
  }
  var added = 0.0;
  if (AFTER == 0u && params.added != 0u) {
    added = bias[filters_before + filter_index];
  }
  let base = (z * params.filters + filter_index) * pixels;
  for (var i = 0u; i < 4u; i++) {
    let at = pixel + i * (PIXELS / 4u);
    if (at < pixels) {
      //#if AFTER
      if (AFTER != 0u) {
        y[base + at] = ended(sums[i], filters_before + filter_index, base + at);
        continue;
      }
      //#endif
      y[base + at] = sums[i] + added;
    }
  }
}

@compute @workgroup_size(FILTERS * PIXELS / 32u * SHARES)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let f4 = FILTERS / 4u;
  let p4 = PIXELS / 4u;
  let depth = SHARES * DEPTH;
  let threads_of_share = FILTERS * PIXELS / 32u;
  let threads = threads_of_share * SHARES;
  let w_pitch = f4 + 1u;
  let x_tile = depth * w_pitch;

  let steps = params.channels * params.kernel_h * params.kernel_w;
  // Divisions are slow enough to skip those that are not needed.
  let plain = POINTWISE != 0u && params.stride == 0x10001u;
  let pixels = params.out_h * params.out_w;
  let tile_rows = (params.filters + FILTERS - 1u) / FILTERS;
  let tile_columns = (pixels + PIXELS - 1u) / PIXELS;
  let tile_index = workgroup.y * workgroups.x + workgroup.x;
  if (tile_index >= tile_rows * tile_columns) {
    return;
  }
  let filter0 = tile_index % tile_rows * FILTERS;
  let pixel0 = tile_index / tile_rows * PIXELS;
  let z = params.first_z + workgroup.z;
  var layer = z; // image × groups + group
  var begin = 0u;
  if (params.chunk < steps) {
    let parts = (steps + params.chunk - 1u) / params.chunk;
    layer = z / parts;
    begin = z % parts * params.chunk;
  }
  var filters_before = 0u;
  if (params.groups > 1u) {
    filters_before = layer % params.groups * params.filters;
  }
  let end = min(steps, begin + params.chunk);

  // This thread's fetches from a tile: two vec4s of weights of one step, and two of inputs of two
  // steps. Lines past the last read whatever follows, and their sums are not stored. Reads past a
  // buffer's end are harmless. Steps past the last are replaced by zeros.
  let w_step = thread % depth;
  let w_line = thread / depth;
  let w_more = threads / depth;
  let w_row = f4 * steps;
  var w_at = (filters_before + filter0 + w_line) * steps + begin + w_step;
  let x_line = thread % p4;
  let x_step = thread / p4;
  let x_more = threads / p4;
  // Unsigned arithmetic: a position left of or above x wraps to a huge one and fails the test.
  let my_pixels = pixel0 + x_line + vec4u(0u, p4, 2u * p4, 3u * p4);
  var rows = vec4u();
  var columns = my_pixels;
  if (!plain) {
    let out_rows = my_pixels / params.out_w;
    rows = out_rows * (params.stride & 0xffffu) - params.pad_h;
    columns = (my_pixels - out_rows * params.out_w) * (params.stride >> 16u) - params.pad_w;
  }
  let x_base = layer * params.channels * params.height * params.width
    + rows * params.width + columns;
  let by = window_at(depth);
  var place0 = window_at(begin + x_step);
  var place1 = window_at(begin + x_step + x_more);

  let share = thread / threads_of_share;
  let thread_of_share = thread % threads_of_share;
  let tx = thread_of_share % p4;
  let ty = thread_of_share / p4;
  let w_mine = share * DEPTH * w_pitch + ty;
  let x_mine = x_tile + share * DEPTH * p4 + tx;
  var sums0 = vec4f();
  var sums1 = vec4f();
  var sums2 = vec4f();
  var sums3 = vec4f();
  var sums4 = vec4f();
  var sums5 = vec4f();
  var sums6 = vec4f();
  var sums7 = vec4f();

  var weights0 = weights_at(w_at, w_row);
  var weights1 = weights_at(w_at + w_more * steps, w_row);
  var inputs0 = inputs_at(x_base + distance_of(place0));
  var inputs1 = inputs_at(x_base + distance_of(place1));
  for (var step = begin; step < end; step += depth) {
    let w_there = step + w_step < end;
    tile[w_step * w_pitch + w_line] = select(vec4f(), weights0, w_there);
    tile[w_step * w_pitch + w_line + w_more] = select(vec4f(), weights1, w_there);
    let there0 = vec4<bool>(step + x_step < end) & inside(rows, columns, place0);
    tile[x_tile + x_step * p4 + x_line] = select(vec4f(), inputs0, there0);
    if (x_more < depth) {
      let there1 = vec4<bool>(step + x_step + x_more < end) & inside(rows, columns, place1);
      tile[x_tile + (x_step + x_more) * p4 + x_line] = select(vec4f(), inputs1, there1);
    }
    workgroupBarrier();
    if (step + depth < end) {
      w_at += depth;
      place0 = moved(place0, by);
      place1 = moved(place1, by);
      weights0 = weights_at(w_at, w_row);
      weights1 = weights_at(w_at + w_more * steps, w_row);
      inputs0 = inputs_at(x_base + distance_of(place0));
      if (x_more < depth) {
        inputs1 = inputs_at(x_base + distance_of(place1));
      }
    }
    for (var d = 0u; d < DEPTH; d++) {
      let upper = tile[w_mine + d * w_pitch];
      let lower = tile[w_mine + d * w_pitch + f4 / 2u];
      let line = tile[x_mine + d * p4];
      sums0 = fma(vec4f(upper.x), line, sums0);
      sums1 = fma(vec4f(upper.y), line, sums1);
      sums2 = fma(vec4f(upper.z), line, sums2);
      sums3 = fma(vec4f(upper.w), line, sums3);
      sums4 = fma(vec4f(lower.x), line, sums4);
      sums5 = fma(vec4f(lower.y), line, sums5);
      sums6 = fma(vec4f(lower.z), line, sums6);
      sums7 = fma(vec4f(lower.w), line, sums7);
    }
    workgroupBarrier();
  }

  let filter_index = filter0 + ty;
  let pixel = pixel0 + tx;
  if (SHARES == 1u) {
    store(z, filters_before, filter_index, pixel, pixels, sums0);
    store(z, filters_before, filter_index + f4, pixel, pixels, sums1);
    store(z, filters_before, filter_index + 2u * f4, pixel, pixels, sums2);
    store(z, filters_before, filter_index + 3u * f4, pixel, pixels, sums3);
    store(z, filters_before, filter_index + f4 / 2u, pixel, pixels, sums4);
    store(z, filters_before, filter_index + f4 / 2u + f4, pixel, pixels, sums5);
    store(z, filters_before, filter_index + f4 / 2u + 2u * f4, pixel, pixels, sums6);
    store(z, filters_before, filter_index + f4 / 2u + 3u * f4, pixel, pixels, sums7);
    return;
  }
  let mine = share * 8u * threads_of_share + thread_of_share;
  tile[mine] = sums0;
  tile[mine + threads_of_share] = sums1;
  tile[mine + 2u * threads_of_share] = sums2;
  tile[mine + 3u * threads_of_share] = sums3;
  tile[mine + 4u * threads_of_share] = sums4;
  tile[mine + 5u * threads_of_share] = sums5;
  tile[mine + 6u * threads_of_share] = sums6;
  tile[mine + 7u * threads_of_share] = sums7;
  workgroupBarrier();
  for (var i = share; i < 8u; i += SHARES) {
    var sum = vec4f();
    for (var s = 0u; s < SHARES; s++) {
      sum += tile[(s * 8u + i) * threads_of_share + thread_of_share];
    }
    let line = filter_index + i / 4u * (f4 / 2u) + i % 4u * f4;
    store(z, filters_before, line, pixel, pixels, sum);
  }
}
