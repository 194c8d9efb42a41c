// Vectors as columns of a float16 matrix for subgroup matrices: y[k, v] = x[v, k], each vector
// scaled by its largest magnitude as the rows of quantized_halves.wgsl. A vector that is not finite
// becomes zeros.
//
// Rows of y are padded with zeros to whole vec4us. A thread writes one of them, from eight vectors.
// Reads x once and writes two bytes per element.

struct Params {
  vectors: u32,
  columns: u32, // elements of a vector
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> largest: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4u>; // eight halves each
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/split_scale.wgsl

const THREADS = 64u;

fn scaled(v: u32, k: u32) -> f32 {
  if (v >= params.vectors || largest[v] >= NOT_FINITE) {
    return 0.0;
  }
  return scaled_up(vec4f(x[v * params.columns + k]), largest[v]).x;
}

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  // Neighbouring threads read neighbouring elements of a vector.
  let parts = (params.columns + THREADS - 1u) / THREADS;
  let number = group.y * groups.x + group.x;
  let k = number % parts * THREADS + thread;
  let width = (params.vectors + 7u) / 8u;
  let eight = number / parts;
  if (eight >= width || k >= params.columns) {
    return;
  }
  let v = 8u * eight;
  y[k * width + eight] = vec4u(
    pack2x16float(vec2f(scaled(v, k), scaled(v + 1u, k))),
    pack2x16float(vec2f(scaled(v + 2u, k), scaled(v + 3u, k))),
    pack2x16float(vec2f(scaled(v + 4u, k), scaled(v + 5u, k))),
    pack2x16float(vec2f(scaled(v + 6u, k), scaled(v + 7u, k))),
  );
}
