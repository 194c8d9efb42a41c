// Products of a few vectors and a matrix of F16 or BF16: y[v, n] = sum over k of x[v, k] weight[n, k]
// + residual[v, n]. The matrix is read once for up to VECTORS vectors, and the vectors are read through
// workgroup memory. LANES adjacent threads share ROWS rows of the matrix. It is limited by memory
// bandwidth, so a thread begins READS reads of each row before it waits for the vectors. A single
// vector may be normalized before, and the product of one may be gated.

struct Params {
  rows: u32,    // of the matrix
  columns: u32, // of the matrix, a multiple of 4
  vectors: u32,
  added: u32,   // 1 if there is a residual [vectors, rows], 2 if it is [rows]
  normed: u32,  // 1 if x is a vector to divide by its root mean square and multiply by norm
  gate: u32,    // y[n] = f(first half of the rows) * second half for a vector, by f's code, or 0
  eps: f32,     // added to the mean of squares
}

@group(0) @binding(0) var<storage, read> blocks: array<vec2u>;
@group(0) @binding(1) var<storage, read> x: array<vec4f>;
@group(0) @binding(2) var<storage, read> residual: array<f32>;
@group(0) @binding(3) var<storage, read> norm: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> y: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/quantized_floats.wgsl
//#include lib/quantized_sums.wgsl

const QUADS = 512u; // of all vectors in workgroup memory
override UNPACKS: u32 = 0u; // 1 for F16 if unpack2x16float is exact for subnormal numbers too
override READS: u32 = 16u; // QUADS / VECTORS / LANES

var<workgroup> values: array<vec4f, QUADS>;
var<workgroup> squares: array<f32, QUADS>; // sums of the squares of x, if it is normalized

fn four_of(words: vec2u) -> vec4f {
  if (UNPACKS == 1u) {
    return vec4f(unpack2x16float(words.x), unpack2x16float(words.y));
  }
  return four_floats(words);
}

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let first_row = first_row_of(group.y * groups.x + group.x, thread);
  let lane = thread % LANES;
  let quads = params.columns / 4u;
  let span = QUADS / VECTORS; // quads of a vector in workgroup memory
  var sums: array<f32, MOST>;
  var own_squares = 0.0;
  let rounds = (quads + span - 1u) / span;
  for (var round_number = 0u; round_number < rounds; round_number++) {
    // Workgroups begin at different columns, so that they read from all channels of the memory.
    let begin = (round_number + group.x) % rounds * span;
    let count = min(span, quads - begin);
    //#repeat ROW ROWS
    let start_ROW = min(row_of(first_row, ROW), params.rows - 1u) * quads + begin;
    //#repeat READ READS
    let own_ROW_READ = blocks[start_ROW + min(lane + READ * LANES, count - 1u)];
    //#end
    //#end
    workgroupBarrier();
    for (var i = thread; i < QUADS; i += THREADS) {
      let v = i / span;
      let at = begin + i % span;
      if (v < params.vectors && at < quads) {
        let own = x[v * quads + at];
        if (params.normed != 0u) { // the product is divided by the root mean square at the end
          squares[i] = dot(own, own);
          values[i] = own * norm[at];
        } else {
          values[i] = own;
        }
      }
    }
    workgroupBarrier();
    //#repeat READ READS
    {
      let at = lane + READ * LANES;
      if (at < count) {
        if (params.normed != 0u) {
          own_squares += squares[at];
        }
        //#repeat ROW ROWS
        {
          let four = four_of(own_ROW_READ);
          for (var v = 0u; v < VECTORS; v++) {
            sums[ROW * VECTORS + v] += dot(four, values[v * span + at]);
          }
        }
        //#end
      }
    }
    //#end
  }
  finish(sums, own_squares, first_row, thread);
}
