// Gather of rows: y[r, j] = weight[indices[r], j], word by word. An index outside the table gives a
// row of NaN (0 for integers). Each thread copies one word, or one vec4 in main_vectors, for rows
// whose length is divisible by 4.

struct Params {
  rows: u32,     // of y
  elements: u32, // of a row
  entries: u32,  // rows of weight
  missing: u32,  // the bits of a row whose index is out of range
}

@group(0) @binding(0) var<storage, read> indices: array<i32>;
@group(0) @binding(1) var<storage, read> weight: array<u32>;
@group(0) @binding(1) var<storage, read> weight_vectors: array<vec4u>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;
@group(0) @binding(2) var<storage, read_write> y_vectors: array<vec4u>;
@group(1) @binding(0) var<uniform> params: Params;

const THREADS = 256u;
const NONE = 0xffffffffu;

// Returns the source index of element i, or NONE.
fn source(i: u32) -> u32 {
  let index = indices[i / params.elements];
  if (index < 0 || u32(index) >= params.entries) {
    return NONE;
  }
  return u32(index) * params.elements + i % params.elements;
}

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.y * groups.x * THREADS + id.x;
  if (i >= params.rows * params.elements) {
    return;
  }
  let at = source(i);
  var value = params.missing;
  if (at != NONE) {
    value = weight[at];
  }
  y[i] = value;
}

@compute @workgroup_size(THREADS)
fn main_vectors(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.y * groups.x * THREADS + id.x;
  if (i >= params.rows * params.elements) {
    return;
  }
  let at = source(i);
  var value = vec4u(params.missing);
  if (at != NONE) {
    value = weight_vectors[at];
  }
  y_vectors[i] = value;
}
