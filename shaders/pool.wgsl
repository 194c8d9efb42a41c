// Pooling of the windows of [planes, height, width]: y[z, p, q] is the maximum or the mean over r,
// s of x[z, p stride_h + r dilation_h - pad_h, q stride_w + s dilation_w - pad_w].
//
// One output per thread, which reads its kernel_h × kernel_w window through the cache. Positions
// outside x never win a maximum and add nothing to a mean. NaN propagates. A window without a
// position in x gives -infinity (index -1) as its maximum and NaN as its mean. main_indices also
// writes the position of a maximum in its plane: row × width + column, the first among equals.

struct Params {
  n: u32, // outputs
  height: u32,
  width: u32,
  out_h: u32,
  out_w: u32,
  kernel_h: u32,
  kernel_w: u32,
  stride_h: u32,
  stride_w: u32,
  pad_h: u32,
  pad_w: u32,
  dilation_h: u32,
  dilation_w: u32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<storage, read_write> indices: array<i32>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/floats.wgsl

// 0 max, 1 mean_padded (its divisor counts the padding), 2 mean
override OP: u32 = 0u;
override THREADS: u32 = 256u; // in a workgroup

struct Found {
  value: f32,
  index: i32, // in its plane
}

fn maximum(i: u32) -> Found {
  let plane = i / (params.out_h * params.out_w) * params.height * params.width;
  let row0 = i / params.out_w % params.out_h * params.stride_h;
  let column0 = i % params.out_w * params.stride_w;
  var best = Found(minus_infinity(), -1);
  for (var r = 0u; r < params.kernel_h; r++) {
    // Unsigned: a position left of or above x wraps to a huge one and fails the test.
    let row = row0 + r * params.dilation_h - params.pad_h;
    if (row >= params.height) {
      continue;
    }
    for (var s = 0u; s < params.kernel_w; s++) {
      let column = column0 + s * params.dilation_w - params.pad_w;
      if (column >= params.width) {
        continue;
      }
      let at = row * params.width + column;
      let value = x[plane + at];
      if (best.index < 0 || (!is_nan(best.value) && (value > best.value || is_nan(value)))) {
        best = Found(value, i32(at));
      }
    }
  }
  return best;
}

fn mean(i: u32) -> f32 {
  let plane = i / (params.out_h * params.out_w) * params.height * params.width;
  let row0 = i / params.out_w % params.out_h * params.stride_h;
  let column0 = i % params.out_w * params.stride_w;
  var sum = 0.0;
  var inside = 0u;
  var padded = 0u; // positions within x and its padding
  for (var r = 0u; r < params.kernel_h; r++) {
    let padded_row = row0 + r * params.dilation_h;
    let row = padded_row - params.pad_h;
    for (var s = 0u; s < params.kernel_w; s++) {
      let padded_column = column0 + s * params.dilation_w;
      let column = padded_column - params.pad_w;
      if (padded_row < params.height + 2u * params.pad_h
        && padded_column < params.width + 2u * params.pad_w) {
        padded += 1u;
      }
      if (row < params.height && column < params.width) {
        sum += x[plane + row * params.width + column];
        inside += 1u;
      }
    }
  }
  let divisor = select(inside, padded, OP == 1u);
  if (divisor == 0u) {
    return quiet_nan();
  }
  return sum / f32(divisor);
}

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.y * groups.x * THREADS + id.x;
  if (i >= params.n) {
    return;
  }
  if (OP == 0u) {
    y[i] = maximum(i).value;
  } else {
    y[i] = mean(i);
  }
}

@compute @workgroup_size(THREADS)
fn main_indices(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.y * groups.x * THREADS + id.x;
  if (i >= params.n) {
    return;
  }
  let found = maximum(i);
  y[i] = found.value;
  indices[i] = found.index;
}
