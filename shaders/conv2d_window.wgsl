// Two-dimensional cross-correlation with 3 × 3 windows, stride 1 and dilation 1, NCHW: y[n, f, p,
// q] = sum over c, r, s of x[n, c, p + r - pad_h, q + s - pad_w] w[f, c, r, s] with zeros outside
// x. Any padding, groups.
//
// A workgroup computes FILTERS filters of 4 × 8 pixels, 16 channels at a time. The windows' 6 × 10
// inputs are in workgroup memory, where each is read for up to nine products. SHARES groups of
// threads divide the 16 channels and add their sums at the end. A thread computes 4 filters of 4
// pixels in a row. The next channels are fetched into registers meanwhile. x is tiles of filters
// and columns, y tiles of rows, z image × group × part. With chunk < channels, partial sums over c
// are written to y one after the other, for conv2d_sum. Cost: 18 N F P Q C / groups operations.
// For a missing bias, scale or residual, a buffer must be bound but is not read.

//#include lib/conv2d_window.wgsl

override FILTERS: u32 = 16u; // a multiple of 4
override SHARES: u32 = 4u; // 128 threads: 64 / FILTERS

const THREADS = 128u;
const ROWS = 4u;
const COLUMNS = 8u;
const STRIPS = 8u; // of 4 pixels in a row
const DEPTH = 16u; // channels at a time
const WINDOW = 9u;
const STEPS = DEPTH * WINDOW;
const AREA_WIDTH = COLUMNS + 2u;
const AREA = 60u;
const AREA_PITCH = 64u;
const FETCHED = DEPTH * AREA_PITCH / THREADS;

override PITCH = FILTERS / 4u + 1u; // vec4s between the filters of two steps
override LANES = THREADS / FILTERS; // threads that fetch one filter's weights
override WEIGHTS = STEPS / LANES; // weights that each of them fetches, at most 18

// [channel, r, s][filters]; at the end the sums of the shares.
var<workgroup> w_tile: array<vec4f, max(STEPS * PITCH, 4u * THREADS)>;
var<workgroup> x_tile: array<f32, DEPTH * AREA_PITCH>; // [channel][row, column]

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
  // A division is slow if it is not needed.
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

  // This thread's fetches: weights of one filter, and one position of the area in 8 channels. Reads
  // past a buffer's end are harmless, and values that must not count are replaced by zeros.
  let my_filter = thread / LANES;
  let my_step = thread % LANES;
  let filter_row = filters_before + min(filter0 + my_filter, params.filters - 1u);
  var w_at = (filter_row * params.channels + begin) * WINDOW + my_step;
  let place = thread % AREA_PITCH;
  let my_channel = thread / AREA_PITCH;
  // Unsigned arithmetic: a position left of or above x wraps to a huge one and fails the test.
  let row = row0 + place / AREA_WIDTH - params.pad_h;
  let column = column0 + place % AREA_WIDTH - params.pad_w;
  let inside = place < AREA && row < params.height && column < params.width;
  let area = params.height * params.width;
  var x_at = (layer * params.channels + begin + my_channel) * area
    + select(0u, row * params.width + column, inside);
  let x_step = THREADS / AREA_PITCH * area;
  var next_w: array<f32, 18>;
  var next_x: array<f32, FETCHED>;
  for (var i = 0u; i < WEIGHTS; i++) {
    next_w[i] = w[w_at + i * LANES];
  }
  for (var i = 0u; i < FETCHED; i++) {
    next_x[i] = x[x_at + i * x_step];
  }

  let share = thread / (2u * FILTERS);
  let strip = thread % STRIPS;
  let quad = thread / STRIPS % (FILTERS / 4u); // 4 filters
  let x_mine = share * (DEPTH / SHARES) * AREA_PITCH + strip / 2u * AREA_WIDTH + strip % 2u * 4u;
  let w_mine = share * (DEPTH / SHARES) * WINDOW * PITCH + quad;
  var sums0 = vec4f();
  var sums1 = vec4f();
  var sums2 = vec4f();
  var sums3 = vec4f();
  for (var channel = begin; channel < end; channel += DEPTH) {
    let steps = (end - channel) * WINDOW;
    for (var i = 0u; i < WEIGHTS; i++) {
      let step = my_step + i * LANES;
      w_tile[step * PITCH + my_filter / 4u][my_filter % 4u] = select(0.0, next_w[i], step < steps);
    }
    for (var i = 0u; i < FETCHED; i++) {
      let mine = my_channel + i * (THREADS / AREA_PITCH);
      x_tile[mine * AREA_PITCH + place] = select(0.0, next_x[i], inside && channel + mine < end);
    }
    workgroupBarrier();
    if (channel + DEPTH < end) {
      w_at += STEPS;
      x_at += DEPTH * area;
      for (var i = 0u; i < WEIGHTS; i++) {
        next_w[i] = w[w_at + i * LANES];
      }
      for (var i = 0u; i < FETCHED; i++) {
        next_x[i] = x[x_at + i * x_step];
      }
    }
    for (var c = 0u; c < DEPTH / SHARES; c++) {
      for (var r = 0u; r < 3u; r++) {
        let x_row = x_mine + c * AREA_PITCH + r * AREA_WIDTH;
        let w_row = w_mine + (c * WINDOW + 3u * r) * PITCH;
        let w0 = w_tile[w_row];
        let w1 = w_tile[w_row + PITCH];
        let w2 = w_tile[w_row + 2u * PITCH];
        let x0 = x_tile[x_row];
        let x1 = x_tile[x_row + 1u];
        let x2 = x_tile[x_row + 2u];
        let x3 = x_tile[x_row + 3u];
        let x4 = x_tile[x_row + 4u];
        let x5 = x_tile[x_row + 5u];
        sums0 = fma(vec4f(x2), w2, fma(vec4f(x1), w1, fma(vec4f(x0), w0, sums0)));
        sums1 = fma(vec4f(x3), w2, fma(vec4f(x2), w1, fma(vec4f(x1), w0, sums1)));
        sums2 = fma(vec4f(x4), w2, fma(vec4f(x3), w1, fma(vec4f(x2), w0, sums2)));
        sums3 = fma(vec4f(x5), w2, fma(vec4f(x4), w1, fma(vec4f(x3), w0, sums3)));
      }
    }
    workgroupBarrier();
  }

  // [share][4 filters][pixel]; each active thread adds the shares of 4 filters of a pixel.
  let mine = share * (8u * FILTERS) + quad * 32u + strip * 4u;
  w_tile[mine] = sums0;
  w_tile[mine + 1u] = sums1;
  w_tile[mine + 2u] = sums2;
  w_tile[mine + 3u] = sums3;
  workgroupBarrier();
  if (thread >= 8u * FILTERS) {
    return;
  }
  var sum = vec4f();
  for (var i = 0u; i < SHARES; i++) {
    sum += w_tile[i * (8u * FILTERS) + thread];
  }
  let out_row = row0 + thread % 32u / COLUMNS;
  let out_column = column0 + thread % COLUMNS;
  store(sum, filter0 + thread / 32u * 4u, filters_before, z, out_row, out_column);
}
