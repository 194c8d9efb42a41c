// Dequantization: y[r, j] = weight[indices[r], j] in main, and all rows in main_all. An index
// outside the table gives a row of NaN. Each thread computes four elements.

struct Params {
  rows: u32,    // of y
  quads: u32,   // of a row
  entries: u32, // rows of the weight
  missing: u32, // the bits of a row whose index is out of range
}

@group(0) @binding(0) var<storage, read> blocks: array<u32>;
@group(0) @binding(1) var<storage, read> indices: array<i32>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4f>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/quantized.wgsl

const THREADS = 64u;

fn quad_of(row: u32, number: u32) -> vec4f {
  let each = block_elements() / 4u;
  let block = row * (params.quads / each) + number / each;
  return quad(block * block_bytes(), 4u * (number % each));
}

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.y * groups.x * THREADS + id.x;
  if (i >= params.rows * params.quads) {
    return;
  }
  let row = indices[i / params.quads];
  if (row < 0 || u32(row) >= params.entries) {
    y[i] = bitcast<vec4f>(vec4u(params.missing));
    return;
  }
  y[i] = quad_of(u32(row), i % params.quads);
}

@compute @workgroup_size(THREADS)
fn main_all(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.y * groups.x * THREADS + id.x;
  if (i < params.rows * params.quads) {
    y[i] = quad_of(i / params.quads, i % params.quads);
  }
}
