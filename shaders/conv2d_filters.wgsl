// The gradient of a two-dimensional convolution for its filters: y[f, c, r, s] = sum over n, p, q
// of g[n, f, p, q] x[n, c, p stride_h + r dilation_h - pad_h, q …], with zeros outside x.
//
// Implicit GEMM: rows are the filters of one group, columns the elements (c, r, s) of a filter, and
// the sum is over the output pixels (n, p, q) of all images. Both factors exist only as tiles in
// workgroup memory. A workgroup computes a tile of FILTERS × ELEMENTS, DEPTH steps at a time, and a
// thread 8 × 4 sums. The next tile is fetched into registers meanwhile. Neighbours in a warp read
// neighbouring pixels. A thread's vec4s hold lines of the tile that are a quarter of it apart.
//
// z is group × part. With chunk < steps, partial sums are written to y one after the other, for
// conv2d_sum. Cost: 2 N F P Q C R S / groups operations.

struct Params {
  images: u32,
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
  chunk: u32, // steps per part of the sum
  first_z: u32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> g: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

const FILTERS = 64u;
const ELEMENTS = 64u;
const DEPTH = 16u;
const THREADS = 128u; // FILTERS ELEMENTS / 32
const QUARTER = 16u; // FILTERS / 4 and ELEMENTS / 4
const PITCH = 17u; // vec4s of a step, one more to spread the banks
const MORE = 8u; // THREADS / DEPTH, lines between a thread's two fetches

var<workgroup> tile: array<vec4f, 544>; // [step][filters], [step][elements]

fn gradients_at(at: u32, row: u32) -> vec4f {
  return vec4f(g[at], g[at + row], g[at + 2u * row], g[at + 3u * row]);
}

// Four elements of a filter: their rows and columns, and distances in x from the first element.
struct Elements {
  rows: vec4u,
  columns: vec4u,
  distance: vec4u,
}

fn elements_at(first: u32) -> Elements {
  let at = first + vec4u(0u, QUARTER, 2u * QUARTER, 3u * QUARTER);
  let lines = at / params.kernel_w;
  let channels = lines / params.kernel_h;
  let rows = (lines - channels * params.kernel_h) * (params.dilation & 0xffffu);
  let columns = (at - lines * params.kernel_w) * (params.dilation >> 16u);
  let distance = (channels * params.height + rows) * params.width + columns;
  return Elements(rows, columns, distance);
}

// The inputs at four elements of a filter whose first element is at `row` and `column` of x, which
// is `base` in memory.
fn inputs_at(base: u32, row: u32, column: u32, own: Elements) -> vec4f {
  // Unsigned arithmetic: a position left of or above x wraps to a huge one and fails the test.
  let rows = own.rows + row;
  let columns = own.columns + column;
  let inside = (rows < vec4u(params.height)) & (columns < vec4u(params.width));
  let places = select(vec4u(), own.distance + base, inside);
  return select(vec4f(), vec4f(x[places.x], x[places.y], x[places.z], x[places.w]), inside);
}

// A thread's share of both tiles: the distances of its first lines, and its elements of a filter.
struct Lines {
  pixels: u32, // of a channel of gradients, and its extents
  rows: u32,
  columns: u32,
  g: u32, // of the first filter, in an image of gradients
  g_image: u32, // distance of images
  x: u32, // of the group's channels, in an image
  x_image: u32,
  first: Elements,
  second: Elements,
}

struct Fetched {
  gradients0: vec4f,
  gradients1: vec4f,
  inputs0: vec4f,
  inputs1: vec4f,
}

// A step: the image, row and column of an output pixel.
struct Pixel {
  image: u32,
  row: u32,
  column: u32,
}

fn pixel_of(step: u32, own: Lines) -> Pixel {
  let image = step / own.pixels;
  let pixel = step - image * own.pixels;
  let row = pixel / own.columns;
  return Pixel(image, row, pixel - row * own.columns);
}

// The pixel that is `by` steps later. Carries take the place of divisions.
fn later(pixel: Pixel, by: Pixel, own: Lines) -> Pixel {
  var column = pixel.column + by.column;
  var row = pixel.row + by.row;
  var image = pixel.image + by.image;
  if (column >= own.columns) {
    column -= own.columns;
    row += 1u;
  }
  if (row >= own.rows) {
    row -= own.rows;
    image += 1u;
  }
  return Pixel(image, row, column);
}

fn fetched(pixel: Pixel, own: Lines) -> Fetched {
  let at = pixel.image * own.g_image + own.g + pixel.row * own.columns + pixel.column;
  let row = pixel.row * (params.stride & 0xffffu) - params.pad_h;
  let column = pixel.column * (params.stride >> 16u) - params.pad_w;
  let base = pixel.image * own.x_image + own.x + row * params.width + column;
  return Fetched(
    gradients_at(at, QUARTER * own.pixels),
    gradients_at(at + MORE * own.pixels, QUARTER * own.pixels),
    inputs_at(base, row, column, own.first),
    inputs_at(base, row, column, own.second),
  );
}

fn store(z: u32, filter_index: u32, element: u32, count: u32, sums: vec4f) {
  if (filter_index >= params.filters) {
    return;
  }
  let base = (z * params.filters + filter_index) * count;
  for (var i = 0u; i < 4u; i++) {
    let at = element + i * QUARTER;
    if (at < count) {
      y[base + at] = sums[i];
    }
  }
}

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let pixels = params.out_h * params.out_w;
  let steps = params.images * pixels;
  let count = params.channels * params.kernel_h * params.kernel_w;
  let tile_rows = (params.filters + FILTERS - 1u) / FILTERS;
  let tile_columns = (count + ELEMENTS - 1u) / ELEMENTS;
  let tile_index = workgroup.y * workgroups.x + workgroup.x;
  if (tile_index >= tile_rows * tile_columns) {
    return;
  }
  let filter0 = tile_index % tile_rows * FILTERS;
  let element0 = tile_index / tile_rows * ELEMENTS;
  let z = params.first_z + workgroup.z;
  let parts = (steps + params.chunk - 1u) / params.chunk;
  let group = z / parts;
  let begin = z % parts * params.chunk;
  let end = min(steps, begin + params.chunk);

  // This thread's fetches from a tile: two vec4s of each factor, all of one step. Lines past the
  // last read whatever follows, and their sums are not stored. Reads past a buffer's end are
  // harmless. Steps past the last are replaced by zeros.
  let own_step = thread % DEPTH;
  let own_line = thread / DEPTH;
  let own = Lines(
    pixels,
    params.out_h,
    params.out_w,
    (group * params.filters + filter0 + own_line) * pixels,
    params.groups * params.filters * pixels,
    group * params.channels * params.height * params.width,
    params.groups * params.channels * params.height * params.width,
    elements_at(element0 + own_line),
    elements_at(element0 + own_line + MORE),
  );

  let tx = thread % QUARTER;
  let ty = thread / QUARTER;
  let x_tile = DEPTH * PITCH;
  var sums0 = vec4f();
  var sums1 = vec4f();
  var sums2 = vec4f();
  var sums3 = vec4f();
  var sums4 = vec4f();
  var sums5 = vec4f();
  var sums6 = vec4f();
  var sums7 = vec4f();

  var pixel = pixel_of(begin + own_step, own);
  let by = pixel_of(DEPTH, own);
  var next = fetched(pixel, own);
  let place = own_step * PITCH + own_line;
  for (var step = begin; step < end; step += DEPTH) {
    let is_there = step + own_step < end;
    tile[place] = select(vec4f(), next.gradients0, is_there);
    tile[place + MORE] = select(vec4f(), next.gradients1, is_there);
    tile[x_tile + place] = select(vec4f(), next.inputs0, is_there);
    tile[x_tile + place + MORE] = select(vec4f(), next.inputs1, is_there);
    workgroupBarrier();
    if (step + DEPTH < end) {
      pixel = later(pixel, by, own);
      next = fetched(pixel, own);
    }
    for (var d = 0u; d < DEPTH; d++) {
      let upper = tile[d * PITCH + ty];
      let lower = tile[d * PITCH + ty + QUARTER / 2u];
      let line = tile[x_tile + d * PITCH + tx];
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
  let element = element0 + tx;
  store(z, filter_index, element, count, sums0);
  store(z, filter_index + QUARTER, element, count, sums1);
  store(z, filter_index + 2u * QUARTER, element, count, sums2);
  store(z, filter_index + 3u * QUARTER, element, count, sums3);
  store(z, filter_index + QUARTER / 2u, element, count, sums4);
  store(z, filter_index + QUARTER / 2u + QUARTER, element, count, sums5);
  store(z, filter_index + QUARTER / 2u + 2u * QUARTER, element, count, sums6);
  store(z, filter_index + QUARTER / 2u + 3u * QUARTER, element, count, sums7);
}
