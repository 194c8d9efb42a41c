// Products of a few vectors and a quantized matrix: y[v, n] = sum over k of x[v, k] weight[n, k] +
// residual[v, n]. The matrix is read once for up to VECTORS vectors, and dequantized in registers.
// LANES adjacent threads share a row of the matrix, in turns of 8 elements. It is limited by memory
// bandwidth.

struct Params {
  rows: u32,    // of the matrix
  columns: u32, // of the matrix
  vectors: u32,
  added: u32,   // 1 if there is a residual
}

@group(0) @binding(0) var<storage, read> blocks: array<u32>;
@group(0) @binding(1) var<storage, read> x: array<vec4f>;
@group(0) @binding(2) var<storage, read> residual: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/quantized.wgsl

override VECTORS: u32 = 1u; // 1 or 8

const THREADS = 128u;
const LANES = 32u;
const EACH = 4u; // THREADS / LANES
const MOST = 8u; // vectors

var<workgroup> parts: array<f32, THREADS>;

// Adds up a number of all lanes of a row, for its first lane.
fn total(sum: f32, thread: u32) -> f32 {
  workgroupBarrier();
  parts[thread] = sum;
  workgroupBarrier();
  for (var half = LANES / 2u; half >= 1u; half /= 2u) {
    if (thread % LANES < half) {
      parts[thread] += parts[thread + half];
    }
    workgroupBarrier();
  }
  return parts[thread];
}

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let own = (group.y * groups.x + group.x) * EACH + thread / LANES;
  let row = min(own, params.rows - 1u);
  let lane = thread % LANES;
  let elements = block_elements();
  let start = row * (params.columns / elements);
  let step = params.columns / 4u; // vec4s from one vector to the next
  var sums: array<f32, MOST>;
  for (var at = 8u * lane; at < params.columns; at += 8u * LANES) {
    let block = (start + at / elements) * block_bytes();
    let first = quad(block, at % elements);
    var second = vec4f();
    let next = at + 4u;
    if (next < params.columns) {
      second = quad((start + next / elements) * block_bytes(), next % elements);
    }
    let after = min(next, params.columns - 4u) / 4u;
    if (VECTORS == 1u) {
      sums[0] += dot(first, x[at / 4u]) + dot(second, x[after]);
    } else {
      for (var v = 0u; v < MOST; v++) {
        let line = min(v, params.vectors - 1u) * step;
        sums[v] += dot(first, x[line + at / 4u]) + dot(second, x[line + after]);
      }
    }
  }
  for (var v = 0u; v < VECTORS; v++) {
    var sum = total(sums[v], thread);
    if (lane == 0u && own < params.rows && v < params.vectors) {
      let place = v * params.rows + row;
      if (params.added != 0u) {
        sum += residual[place];
      }
      y[place] = sum;
    }
  }
}
