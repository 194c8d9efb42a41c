// The pixels of a curve or of points: mask[row * width + column] = 1. x and y are positions in
// pixels, the middle of the first pixel at 0. Positions that are not finite break the curve.
//
// A curve goes along straight lines from sample to sample. In each column, it covers the pixels
// from its least to its greatest height there, so the extreme of a single sample is always seen.
// Each thread follows the curve over STEPS lines. As long as these stay in a column, they are
// connected, so one run of pixels covers them all.

struct Params {
  n: u32,
  width: i32,
  height: i32,
  // Pixels of a line's width, or of a point's diameter.
  size: i32,
  // 0: a square pen, 1: a disc
  disc: u32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> y: array<f32>;
@group(0) @binding(2) var<storage, read_write> mask: array<atomic<u32>>;
@group(0) @binding(3) var<uniform> params: Params;

const THREADS = 64u;
const STEPS = 32u;
const FAR = 1e6f;

// Compilers may assume that comparisons see no NaN, so the bits are tested.
fn is_finite(at: vec2f) -> bool {
  let bits = bitcast<vec2u>(at) & vec2u(0x7fffffffu);
  return bits.x < 0x7f800000u && bits.y < 0x7f800000u;
}

fn pixel(value: f32) -> i32 {
  return i32(floor(clamp(value, -FAR, FAR) + 0.5));
}

// Cover a column from one height to another, as wide as the pen.
fn fill(column: i32, low: f32, high: f32) {
  let before = (params.size - 1) / 2;
  let after = params.size / 2;
  let first = max(pixel(low) - before, 0);
  let last = min(pixel(high) + after, params.height - 1);
  for (var c = max(column - before, 0); c <= min(column + after, params.width - 1); c++) {
    for (var r = first; r <= last; r++) {
      atomicStore(&mask[u32(r * params.width + c)], 1u);
    }
  }
}

@compute @workgroup_size(THREADS)
fn line(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let first = (id.x + id.y * groups.x * THREADS) * STEPS;
  if (first >= params.n) {
    return;
  }
  let last = min(first + STEPS, params.n - 1u);
  var a = vec2f(x[first], y[first]);
  var column = 0;
  var low = 0f;
  var high = 0f;
  var is_open = false;
  for (var i = first + 1u; i <= last; i++) {
    let b = vec2f(x[i], y[i]);
    if (!is_finite(a) || !is_finite(b)) {
      if (is_open) { fill(column, low, high); }
      is_open = false;
      a = b;
      continue;
    }
    // Columns beyond the edge, where a wide pen may still reach the picture.
    let from_column = clamp(pixel(a.x), -params.size - 1, params.width + params.size);
    let to_column = clamp(pixel(b.x), -params.size - 1, params.width + params.size);
    let step = select(-1, 1, to_column >= from_column);
    let change = b - a;
    for (var c = from_column; c != to_column + step; c += step) {
      var t0 = 0f;
      var t1 = 1f;
      if (from_column != to_column) {
        let half = 0.5 * f32(step);
        t0 = clamp((f32(c) - half - a.x) / change.x, 0.0, 1.0);
        t1 = clamp((f32(c) + half - a.x) / change.x, 0.0, 1.0);
      }
      // The end itself, without rounding: the height of a single sample counts.
      let y0 = a.y + t0 * change.y;
      let y1 = select(a.y + t1 * change.y, b.y, t1 == 1.0);
      if (is_open && c == column) {
        low = min(low, min(y0, y1));
        high = max(high, max(y0, y1));
      } else {
        if (is_open) { fill(column, low, high); }
        is_open = true;
        column = c;
        low = min(y0, y1);
        high = max(y0, y1);
      }
    }
    a = b;
  }
  if (is_open) { fill(column, low, high); }
}

@compute @workgroup_size(THREADS)
fn points(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.x + id.y * groups.x * THREADS;
  if (i >= params.n) {
    return;
  }
  let at = vec2f(x[i], y[i]);
  if (!is_finite(at)) {
    return;
  }
  let column = pixel(at.x);
  let row = pixel(at.y);
  let before = (params.size - 1) / 2;
  let after = params.size / 2;
  let middle = 0.5 * f32(after - before);
  let radius = 0.5 * f32(params.size);
  for (var r = -before; r <= after; r++) {
    for (var c = -before; c <= after; c++) {
      let away = vec2f(f32(c), f32(r)) - middle;
      let is_in = params.disc == 0u || dot(away, away) <= radius * radius;
      let inside = column + c >= 0 && column + c < params.width && row + r >= 0
        && row + r < params.height;
      if (is_in && inside) {
        atomicStore(&mask[u32((row + r) * params.width + column + c)], 1u);
      }
    }
  }
}
