// Two-dimensional cross-correlation with 3 × 3 windows, stride 1 and dilation 1, NCHW, as in
// conv2d_window.wgsl, for many outputs.
//
// A workgroup computes 64 filters of 8 × COLUMNS pixels, 4 channels at a time. The windows' inputs,
// 10 rows of 12, are in workgroup memory, and the next channels are fetched into registers
// meanwhile. A thread computes 8 filters of a row's pixels, so that it reads each input and weight
// for many products. Two slices of threads take two channels each, and add their sums at the end. x
// is tiles of filters and columns, y tiles of rows, z image × group × part. With chunk < channels,
// partial sums over c are written to y one after the other, for conv2d_sum. Cost: 18 N F P Q C /
// groups operations. For a missing bias, scale or residual, a buffer must be bound but is not read.

//#include lib/conv2d_window.wgsl

override COLUMNS: u32 = 8u; // 8 or 7

const FILTERS = 64u;
const F8 = FILTERS / 8u;
const ROWS = 8u;
const DEPTH = 4u; // channels at a time
const SLICES = 2u;
const PLACES = F8 * ROWS; // threads of a slice
const THREADS = PLACES * SLICES;
const WINDOW = 9u;
const STEPS = DEPTH * WINDOW;
const PITCH = FILTERS / 4u + 1u; // vec4s between the filters of two steps
const SUM_PITCH = PLACES + 1u;
const AREA_WIDTH = 12u; // at least COLUMNS + 2
const AREA = (ROWS + 2u) * AREA_WIDTH;

var<workgroup> w_tile: array<vec4f, STEPS * PITCH>; // [channel, r, s][filters]; sums of a slice
var<workgroup> x_tile: array<vec4f, DEPTH * AREA / 4u>; // [channel][row][4 columns]

// Adds both slices' sums of a thread's pixels for four filters in workgroup memory.
fn add_slices(
  slice: u32, place: u32, s_0: vec4f, s_1: vec4f, s_2: vec4f, s_3: vec4f, s_4: vec4f, s_5: vec4f,
  s_6: vec4f, s_7: vec4f,
) {
  if (slice == 0u) {
    //#repeat P 8
    w_tile[place + P * SUM_PITCH] = s_P;
    //#end
  }
  workgroupBarrier();
  if (slice == 1u) {
    //#repeat P 8
    w_tile[place + P * SUM_PITCH] += s_P;
    //#end
  }
  workgroupBarrier();
}

// Writes half of the filters, from filter0. Neighbouring threads write neighbouring pixels.
fn store_half(
  thread: u32, z: u32, filter0: u32, filters_before: u32, row0: u32, column0: u32,
) {
  let column = thread % 8u;
  let row = thread / 8u % ROWS;
  if (column >= COLUMNS) {
    return;
  }
  for (var quad = thread / PLACES; quad < F8; quad += SLICES) {
    let sums = w_tile[row * F8 + quad + column * SUM_PITCH];
    store(sums, filter0 + 4u * quad, filters_before, z, row0 + row, column0 + column);
  }
}

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let tile_filters = (params.filters + FILTERS - 1u) / FILTERS;
  let filter0 = workgroup.x % tile_filters * FILTERS;
  let column0 = workgroup.x / tile_filters * COLUMNS;
  let row0 = workgroup.y * ROWS;
  let z = params.first_z + workgroup.z;
  var layer = z; // image × groups + group
  var begin = 0u;
  if (params.chunk < params.channels) {
    let parts = (params.channels + params.chunk - 1u) / params.chunk;
    begin = z % parts * params.chunk;
    layer = z / parts;
  }
  let end = min(params.channels, begin + params.chunk);
  var filters_before = 0u;
  if (params.groups > 1u) {
    filters_before = layer % params.groups * params.filters;
  }

  // This thread's fetches: weights of several filters, and one position of the area in each
  // channel. Filters past the last read whatever follows, and are not stored. Values that must not
  // count are replaced by zeros. Unsigned arithmetic: a position left of or above x wraps to a huge
  // one and fails the test.
  let filter_pitch = params.channels * WINDOW;
  let w_base = (filters_before + filter0) * filter_pitch + begin * WINDOW;
  let row = row0 + thread / AREA_WIDTH - params.pad_h;
  let column = column0 + thread % AREA_WIDTH - params.pad_w;
  let inside = thread < AREA && row < params.height && column < params.width;
  let area = params.height * params.width;
  var x_at = (layer * params.channels + begin) * area
    + select(0u, row * params.width + column, inside);
  //#repeat I 18
  let w_from_I = w_base + (thread + I * THREADS) / STEPS * filter_pitch
    + (thread + I * THREADS) % STEPS;
  var next_w_I = w[w_from_I];
  //#end
  var next_x0 = x[x_at];
  var next_x1 = x[x_at + area];
  var next_x2 = x[x_at + 2u * area];
  var next_x3 = x[x_at + 3u * area];

  let slice = thread / PLACES;
  let place = thread % PLACES;
  let mine = place % F8; // 8 filters: two vec4s, F8 apart
  let my_row = place / F8;
  let w_mine = slice * (DEPTH / SLICES) * WINDOW * PITCH + mine;
  let x_mine = (slice * (DEPTH / SLICES) * AREA + my_row * AREA_WIDTH) / 4u;
  //#repeat P 8
  var lo_P = vec4f();
  var hi_P = vec4f();
  //#end
  for (var channel = begin; channel < end; channel += DEPTH) {
    let left = end - channel; // channels
    //#repeat I 18
    {
      let load = thread + I * THREADS;
      let step = load % STEPS;
      let line = load / STEPS;
      w_tile[step * PITCH + line / 4u][line % 4u] = select(0.0, next_w_I, step < left * WINDOW);
    }
    //#end
    if (thread < AREA) {
      x_tile[thread / 4u][thread % 4u] = select(0.0, next_x0, inside);
      x_tile[(AREA + thread) / 4u][thread % 4u] = select(0.0, next_x1, inside && left > 1u);
      x_tile[(2u * AREA + thread) / 4u][thread % 4u] = select(0.0, next_x2, inside && left > 2u);
      x_tile[(3u * AREA + thread) / 4u][thread % 4u] = select(0.0, next_x3, inside && left > 3u);
    }
    workgroupBarrier();
    if (left > DEPTH) {
      let w_next = (channel + DEPTH - begin) * WINDOW;
      //#repeat I 18
      next_w_I = w[w_from_I + w_next];
      //#end
      x_at += DEPTH * area;
      next_x0 = x[x_at];
      next_x1 = x[x_at + area];
      next_x2 = x[x_at + 2u * area];
      next_x3 = x[x_at + 3u * area];
    }
    //#repeat C 2
    //#repeat R 3
    {
      let w_row = w_mine + (C * WINDOW + 3u * R) * PITCH;
      let x_row = x_mine + (C * AREA + R * AREA_WIDTH) / 4u;
      let x0 = x_tile[x_row];
      let x1 = x_tile[x_row + 1u];
      let x2 = x_tile[x_row + 2u];
      let lo0 = w_tile[w_row];
      let hi0 = w_tile[w_row + F8];
      let lo1 = w_tile[w_row + PITCH];
      let hi1 = w_tile[w_row + PITCH + F8];
      let lo2 = w_tile[w_row + 2u * PITCH];
      let hi2 = w_tile[w_row + 2u * PITCH + F8];
      lo_0 = fma(vec4f(x0.z), lo2, fma(vec4f(x0.y), lo1, fma(vec4f(x0.x), lo0, lo_0)));
      hi_0 = fma(vec4f(x0.z), hi2, fma(vec4f(x0.y), hi1, fma(vec4f(x0.x), hi0, hi_0)));
      lo_1 = fma(vec4f(x0.w), lo2, fma(vec4f(x0.z), lo1, fma(vec4f(x0.y), lo0, lo_1)));
      hi_1 = fma(vec4f(x0.w), hi2, fma(vec4f(x0.z), hi1, fma(vec4f(x0.y), hi0, hi_1)));
      lo_2 = fma(vec4f(x1.x), lo2, fma(vec4f(x0.w), lo1, fma(vec4f(x0.z), lo0, lo_2)));
      hi_2 = fma(vec4f(x1.x), hi2, fma(vec4f(x0.w), hi1, fma(vec4f(x0.z), hi0, hi_2)));
      lo_3 = fma(vec4f(x1.y), lo2, fma(vec4f(x1.x), lo1, fma(vec4f(x0.w), lo0, lo_3)));
      hi_3 = fma(vec4f(x1.y), hi2, fma(vec4f(x1.x), hi1, fma(vec4f(x0.w), hi0, hi_3)));
      lo_4 = fma(vec4f(x1.z), lo2, fma(vec4f(x1.y), lo1, fma(vec4f(x1.x), lo0, lo_4)));
      hi_4 = fma(vec4f(x1.z), hi2, fma(vec4f(x1.y), hi1, fma(vec4f(x1.x), hi0, hi_4)));
      lo_5 = fma(vec4f(x1.w), lo2, fma(vec4f(x1.z), lo1, fma(vec4f(x1.y), lo0, lo_5)));
      hi_5 = fma(vec4f(x1.w), hi2, fma(vec4f(x1.z), hi1, fma(vec4f(x1.y), hi0, hi_5)));
      lo_6 = fma(vec4f(x2.x), lo2, fma(vec4f(x1.w), lo1, fma(vec4f(x1.z), lo0, lo_6)));
      hi_6 = fma(vec4f(x2.x), hi2, fma(vec4f(x1.w), hi1, fma(vec4f(x1.z), hi0, hi_6)));
      if (COLUMNS > 7u) {
        lo_7 = fma(vec4f(x2.y), lo2, fma(vec4f(x2.x), lo1, fma(vec4f(x1.w), lo0, lo_7)));
        hi_7 = fma(vec4f(x2.y), hi2, fma(vec4f(x2.x), hi1, fma(vec4f(x1.w), hi0, hi_7)));
      }
    }
    //#end
    //#end
    workgroupBarrier();
  }

  add_slices(slice, place, lo_0, lo_1, lo_2, lo_3, lo_4, lo_5, lo_6, lo_7);
  store_half(thread, z, filter0, filters_before, row0, column0);
  workgroupBarrier();
  add_slices(slice, place, hi_0, hi_1, hi_2, hi_3, hi_4, hi_5, hi_6, hi_7);
  store_half(thread, z, filter0 + FILTERS / 2u, filters_before, row0, column0);
}
