// Vectors as float16 for subgroup matrices: each scaled by a power of two, as the rows of
// quantized_halves.wgsl. `largest` gets the bits of these magnitudes. A vector that is not finite
// becomes zeros. Vectors may be normalized before, as rms_norm.wgsl does.
//
// Rows of y are padded with zeros to whole vec4us. A workgroup processes one vector. Reads x twice,
// the second time mostly from the cache, and writes two bytes per element.

struct Params {
  vectors: u32,
  columns: u32, // elements of a vector, a multiple of 4
  normed: u32,  // 1 to divide vectors by their root mean square and multiply them by norm
  eps: f32,     // added to the mean of squares
}

@group(0) @binding(0) var<storage, read> x: array<vec4f>;
@group(0) @binding(1) var<storage, read> norm: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> largest: array<u32>;
@group(0) @binding(3) var<storage, read_write> y: array<vec2u>; // four halves each
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/largest_of_row.wgsl
//#include lib/split_scale.wgsl
//#include lib/sum_of_threads.wgsl

const THREADS = 256u;

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let vector = group.y * groups.x + group.x;
  if (vector >= params.vectors) {
    return;
  }
  let quads = params.columns / 4u;
  var own = vec4u();
  var squares = 0.0;
  for (var i = thread; i < quads; i += THREADS) {
    var four = x[vector * quads + i];
    if (params.normed != 0u) {
      squares += dot(four, four);
      four *= norm[i];
    }
    own = max(own, bitcast<vec4u>(four) & vec4u(0x7fffffffu));
  }
  var found = largest_of_row(own, thread);
  var root = 1.0;
  if (params.normed != 0u) {
    root = sqrt(sum_of_threads(squares, thread) / f32(params.columns) + params.eps);
    if (found < NOT_FINITE) {
      found = bitcast<u32>(bitcast<f32>(found) / root);
    }
  }
  if (thread == 0u) {
    largest[vector] = found;
  }
  let is_finite = found < NOT_FINITE;
  let pitch = (params.columns + 7u) / 8u * 2u;
  for (var i = thread; i < pitch; i += THREADS) {
    var four = vec4f();
    if (is_finite && i < quads) {
      four = x[vector * quads + i];
      if (params.normed != 0u) {
        four = four / root * norm[i];
      }
      four = scaled_up(four, found);
    }
    y[vector * pitch + i] = vec2u(pack2x16float(four.xy), pack2x16float(four.zw));
  }
}
