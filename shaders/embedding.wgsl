// y[r, j] = weight[indices[r], j], word by word: a gather of rows. An index outside the table
// gives a row of NaN (0 for integers). One word a thread.

struct Params {
  rows: u32,    // of y
  words: u32,   // of a row
  entries: u32, // rows of weight
  missing: u32, // the bits that stand for a row that is not there
}

@group(0) @binding(0) var<storage, read> indices: array<i32>;
@group(0) @binding(1) var<storage, read> weight: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;
@group(1) @binding(0) var<uniform> params: Params;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.y * groups.x * 256u + id.x;
  if (i >= params.rows * params.words) {
    return;
  }
  let index = indices[i / params.words];
  var value = params.missing;
  if (index >= 0 && u32(index) < params.entries) {
    value = weight[u32(index) * params.words + i % params.words];
  }
  y[i] = value;
}
