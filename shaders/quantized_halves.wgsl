// A quantized matrix as float16 for subgroup matrices. Each row is scaled by a power of two that
// brings its largest magnitude to 2^14 or more, so that no element overflows and no significant one
// is subnormal. `largest` has the bits of these magnitudes. A row that is not finite becomes zeros.
//
// Rows of y are padded with zeros to whole vec4us. A workgroup processes one row. Reads the blocks
// once, those of columns beyond 32 THREADS twice, and writes two bytes per element.

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

const THREADS = 64u;

// Elements 4i to 4i + 3 of a row, or zeros beyond its end.
fn quad_of_row(row: u32, i: u32) -> vec4f {
  if (4u * i >= params.columns) {
    return vec4f();
  }
  let each = block_elements() / 4u;
  let block = row * (params.columns / 4u / each) + i / each;
  return quad(block * block_bytes(), 4u * (i % each));
}

fn magnitudes(four: vec4f) -> vec4u {
  return bitcast<vec4u>(four) & vec4u(0x7fffffffu);
}

fn write(row: u32, i: u32, four: vec4f, of_row: u32) {
  let pitch = (params.columns + 7u) / 8u * 2u;
  if (i < pitch) {
    var scaled = vec4f();
    if (of_row < NOT_FINITE) {
      scaled = scaled_up(four, of_row);
    }
    y[row * pitch + i] = vec2u(pack2x16float(scaled.xy), pack2x16float(scaled.zw));
  }
}

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
  let pitch = (params.columns + 7u) / 8u * 2u;
  var own = vec4u();
  //#repeat HELD 8
  let four_HELD = quad_of_row(row, thread + HELD * THREADS);
  own = max(own, magnitudes(four_HELD));
  //#end
  for (var i = thread + 8u * THREADS; i < pitch; i += THREADS) {
    own = max(own, magnitudes(quad_of_row(row, i)));
  }
  let found = largest_of_row(own, thread);
  if (thread == 0u) {
    largest[row] = found;
  }
  //#repeat HELD 8
  write(row, thread + HELD * THREADS, four_HELD, found);
  //#end
  for (var i = thread + 8u * THREADS; i < pitch; i += THREADS) {
    write(row, i, quad_of_row(row, i), found);
  }
}
