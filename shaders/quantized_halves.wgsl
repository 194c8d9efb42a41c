// A quantized matrix as float16 for subgroup matrices. Each row is scaled by a power of two that
// brings its largest magnitude to 2^14 or more, so that no element overflows and no significant one
// is subnormal. `largest` has the bits of these magnitudes. A row that is not finite becomes zeros.
//
// Rows of y are padded with zeros to whole vec4us. A workgroup processes one row. Reads the blocks
// twice, the second time mostly from the cache, and writes two bytes per element.

struct Params {
  rows: u32,
  columns: u32, // a multiple of 4
}

@group(0) @binding(0) var<storage, read> blocks: array<u32>;
@group(0) @binding(1) var<storage, read_write> largest: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<vec2u>; // four halves each
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/largest_of_row.wgsl
//#include lib/quantized.wgsl
//#include lib/split_scale.wgsl

const THREADS = 128u;

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let row = group.y * groups.x + group.x;
  if (row >= params.rows) {
    return;
  }
  let quads = params.columns / 4u;
  let each = block_elements() / 4u;
  let first = row * (quads / each);
  var own = vec4u();
  for (var i = thread; i < quads; i += THREADS) {
    let four = quad((first + i / each) * block_bytes(), 4u * (i % each));
    own = max(own, bitcast<vec4u>(four) & vec4u(0x7fffffffu));
  }
  let found = largest_of_row(own, thread);
  if (thread == 0u) {
    largest[row] = found;
  }
  let is_finite = found < NOT_FINITE;
  let pitch = (params.columns + 7u) / 8u * 2u;
  for (var i = thread; i < pitch; i += THREADS) {
    var four = vec4f();
    if (is_finite && i < quads) {
      four = scaled_up(quad((first + i / each) * block_bytes(), 4u * (i % each)), found);
    }
    y[row * pitch + i] = vec2u(pack2x16float(four.xy), pack2x16float(four.zw));
  }
}
