// Products of many vectors and a quantized matrix: y[m, n] = sum over k of x[m, k] weight[n, k] +
// residual[m, n]. A workgroup computes a tile of TILE × TILE results, and dequantizes each element
// of the matrix once, into workgroup memory. A thread has 4 × 4 results, 16 apart.

struct Params {
  rows: u32,    // of the matrix, columns of y
  columns: u32, // of the matrix
  vectors: u32, // rows of y
  added: u32,   // 1 if there is a residual [vectors, rows], 2 if it is [rows]
}

@group(0) @binding(0) var<storage, read> blocks: array<u32>;
@group(0) @binding(1) var<storage, read> x: array<vec4f>;
@group(0) @binding(2) var<storage, read> residual: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/quantized.wgsl

const THREADS = 256u;
const SIDE = 16u;
const TILE = 64u;
const DEPTH = 16u; // of a step along k
const PITCH = 65u; // of a line in workgroup memory, so that writes along k have no bank conflicts

var<workgroup> weights: array<f32, DEPTH * PITCH>;
var<workgroup> vectors: array<f32, DEPTH * PITCH>;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let elements = block_elements();
  let line = thread / 4u; // of the tile, whose quad this thread loads
  let own_quad = 4u * (thread % 4u);
  let row = min(group.x * TILE + line, params.rows - 1u);
  let vector = min(group.y * TILE + line, params.vectors - 1u);
  let n = thread % SIDE;
  let m = thread / SIDE;
  var sums: array<vec4f, 4>;
  for (var k = 0u; k < params.columns; k += DEPTH) {
    let at = k + own_quad;
    var weight = vec4f();
    var value = vec4f();
    if (at < params.columns) {
      let block = row * (params.columns / elements) + at / elements;
      weight = quad(block * block_bytes(), at % elements);
      value = x[(vector * params.columns + at) / 4u];
    }
    workgroupBarrier();
    for (var i = 0u; i < 4u; i++) {
      weights[(own_quad + i) * PITCH + line] = weight[i];
      vectors[(own_quad + i) * PITCH + line] = value[i];
    }
    workgroupBarrier();
    for (var i = 0u; i < DEPTH; i++) {
      let w = i * PITCH + n;
      let v = i * PITCH + m;
      let four = vec4f(
        weights[w], weights[w + SIDE], weights[w + 2u * SIDE], weights[w + 3u * SIDE]
      );
      sums[0] += vectors[v] * four;
      sums[1] += vectors[v + SIDE] * four;
      sums[2] += vectors[v + 2u * SIDE] * four;
      sums[3] += vectors[v + 3u * SIDE] * four;
    }
  }
  for (var j = 0u; j < 4u; j++) {
    let of_y = group.y * TILE + m + j * SIDE;
    if (of_y < params.vectors) {
      for (var i = 0u; i < 4u; i++) {
        let column = group.x * TILE + n + i * SIDE;
        if (column < params.rows) {
          let place = of_y * params.rows + column;
          var sum = sums[j][i];
          if (params.added != 0u) {
            sum += residual[select(place, column, params.added == 2u)];
          }
          y[place] = sum;
        }
      }
    }
  }
}
