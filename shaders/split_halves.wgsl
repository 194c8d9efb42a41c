// Splits a scaled float32 matrix into a sum of two float16 matrices: high, rounded to the nearest,
// and low, the remainder, rounded likewise. Each row, or column, is scaled by a power of two that
// brings its largest magnitude to 2^14 or more, so that no significant part is subnormal.
//
// For a left operand, whose rows are scaled, each row of `parts` is low, high, high, side by side.
// For a right one, whose columns are scaled, `parts` is high, low, high, one below the other. Their
// product is low high + high low + high high, with the small sums first, which keeps rounding
// errors small. Rows are padded with zeros to whole vec4us, parts to `tall` rows. A row or column
// that is not finite becomes zeros.
//
// x is row-major and contiguous from element `first` on. A thread writes eight elements of each
// part. Reads every element once and writes six bytes for it, so it is limited by memory bandwidth.

struct Params {
  rows: u32,
  columns: u32,
  first: u32,
  tall: u32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> largest: array<u32>;
@group(0) @binding(2) var<storage, read_write> parts: array<vec4u>; // eight halves each
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/halves.wgsl
//#include lib/split_scale.wgsl

override THREADS: u32 = 256u;
override RIGHT: u32 = 0u; // 1: a right operand

fn scaled(row: u32, column: u32) -> f32 {
  if (row >= params.rows || column >= params.columns) {
    return 0.0;
  }
  let most = largest[select(row, column, RIGHT == 1u)];
  if (most >= NOT_FINITE) {
    return 0.0;
  }
  return scaled_up(vec4f(x[params.first + row * params.columns + column]), most).x;
}

fn four(row: u32, column: u32) -> vec4f {
  return vec4f(
    scaled(row, column),
    scaled(row, column + 1u),
    scaled(row, column + 2u),
    scaled(row, column + 3u),
  );
}

fn in_words(v: vec4f) -> vec2u {
  let bits = exact_half_bits(v);
  return bits.xz | (bits.yw << vec2u(16u));
}

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_id) local: vec3u,
) {
  let i = (group.y * groups.x + group.x) * THREADS + local.x;
  let width = (params.columns + 7u) / 8u;
  let row = i / width;
  if (row >= params.tall) {
    return;
  }
  let v0 = four(row, i % width * 8u);
  let v1 = four(row, i % width * 8u + 4u);
  let high0 = rounded_to_half(v0);
  let high1 = rounded_to_half(v1);
  let high = vec4u(in_words(high0), in_words(high1));
  let low = vec4u(in_words(v0 - high0), in_words(v1 - high1));
  if (RIGHT == 1u) {
    let size = params.tall * width;
    parts[i] = high;
    parts[i + size] = low;
    parts[i + 2u * size] = high;
  } else {
    let at = row * 3u * width + i % width;
    parts[at] = low;
    parts[at + width] = high;
    parts[at + 2u * width] = high;
  }
}
