// o = softmax(scale q kᵀ) v for each z = batch × heads + head, with an optional causal mask (key >
// query is masked out). Any head_dim and any sizes; attention_tiled.wgsl is faster.
//
// A row holds one position of one batch: all heads side by side, head_dim elements each. Rows of q
// are q_row elements apart, rows of k and v kv_row elements. k starts at k_first and v at v_first,
// so q, k and v may be parts of one packed projection. The rows of o are contiguous.
//
// Online softmax (https://arxiv.org/abs/2205.14135, algorithm 1): keys are read 32 at a time. The
// row maximum and sum are updated and earlier sums rescaled, so no seq_q × seq_kv matrix exists. A
// workgroup of 16 × 16 threads computes 32 queries × 64 columns of o; a wider head_dim takes more
// workgroups, which recompute the scores. Scores are products over head_dim in steps of 32, so any
// head_dim fits. Cost: 4 z seq_q seq_kv head_dim operations up to 64 columns.
//
// With MASK, a mask is broadcast to [outer, inner, seq_q, seq_kv] by strides that may be 0. A float
// mask is added to the scores; a bool mask (words) masks out keys where it is 0. Values of masked
// keys do not affect the result, not even NaN. Queries without a visible key give 0. Without MASK,
// a buffer must be bound but is not read.

struct Params {
  seq_q: u32,
  seq_kv: u32,
  head_dim: u32,
  heads: u32,
  q_row: u32,
  kv_row: u32,
  k_first: u32,
  v_first: u32,
  first_z: u32,
  causal: u32,
  scale: f32,
  mask_inner_count: u32, // z = outer index × mask_inner_count + inner index
  mask_outer: u32,
  mask_inner: u32,
  mask_row: u32,
  mask_col: u32,
}

@group(0) @binding(0) var<storage, read> q: array<f32>;
@group(0) @binding(1) var<storage, read> k: array<f32>;
@group(0) @binding(2) var<storage, read> v: array<f32>;
@group(0) @binding(3) var<storage, read> mask: array<u32>;
@group(0) @binding(4) var<storage, read_write> o: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/floats.wgsl

// 0 none, 1 float, 2 bool
override MASK: u32 = 0u;

const BLOCK = 32u; // queries and keys of a tile, and head_dim steps
const COLUMNS = 64u;
const PITCH = 33u;
// Bits of the weight -1, which marks a masked key. Weights are compared by their bits because GPUs
// may assume that no float is NaN: NVIDIA's took a row of NaN for a row with all keys masked.
const MASKED = 0xbf800000u;

var<workgroup> q_tile: array<f32, BLOCK * PITCH>;
var<workgroup> k_tile: array<f32, BLOCK * PITCH>;
var<workgroup> weights: array<f32, BLOCK * PITCH>; // scores, then exp(scores - maximum)

fn load_tiles(thread: u32, q_row: u32, k_row: u32, step: u32, q_base: u32, k_base: u32) {
  for (var i = thread; i < BLOCK * BLOCK; i += 256u) {
    let row = i / BLOCK;
    let d = step + i % BLOCK;
    var from_q = 0.0;
    var from_k = 0.0;
    if (d < params.head_dim) {
      if (q_row + row < params.seq_q) {
        from_q = q[q_base + (q_row + row) * params.q_row + d];
      }
      if (k_row + row < params.seq_kv) {
        from_k = k[k_base + (k_row + row) * params.kv_row + d];
      }
    }
    q_tile[row * PITCH + i % BLOCK] = from_q;
    k_tile[row * PITCH + i % BLOCK] = from_k;
  }
}

fn with_mask(score: f32, base: u32, query: u32, key: u32) -> f32 {
  if (MASK == 0u) {
    return score;
  }
  let word = mask[base + query * params.mask_row + key * params.mask_col];
  if (MASK == 2u) {
    return select(score, minus_infinity(), word == 0u);
  }
  return score + bitcast<f32>(word);
}

@compute @workgroup_size(16, 16)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_id) local: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let row_blocks = (params.seq_q + BLOCK - 1u) / BLOCK;
  let column_blocks = (params.head_dim + COLUMNS - 1u) / COLUMNS;
  let block = group.y * groups.x + group.x;
  if (block >= row_blocks * column_blocks) {
    return;
  }
  let q_row = block / column_blocks * BLOCK;
  let column = block % column_blocks * COLUMNS + 4u * local.x;
  let z = params.first_z + group.z;
  let outer = z / params.heads;
  let within = z % params.heads * params.head_dim;
  let o_row = params.heads * params.head_dim;
  let q_base = outer * params.seq_q * params.q_row + within;
  let kv_base = outer * params.seq_kv * params.kv_row + within;
  let mask_base = z / params.mask_inner_count * params.mask_outer
    + z % params.mask_inner_count * params.mask_inner;
  let row0 = 2u * local.y; // this thread's two queries, within the tile
  let key0 = 2u * local.x;

  var output0 = vec4f();
  var output1 = vec4f();
  var maxima = vec2f(minus_infinity());
  var totals = vec2f();

  var keys = params.seq_kv;
  if (params.causal != 0u) {
    keys = min(keys, q_row + BLOCK); // later keys are masked for every query of the tile
  }
  for (var k_row = 0u; k_row < keys; k_row += BLOCK) {
    var scores = vec4f(); // queries row0, row0 + 1 by keys key0, key0 + 1
    for (var step = 0u; step < params.head_dim; step += BLOCK) {
      load_tiles(thread, q_row, k_row, step, q_base, params.k_first + kv_base);
      workgroupBarrier();
      for (var d = 0u; d < BLOCK; d++) {
        let left = vec2f(q_tile[row0 * PITCH + d], q_tile[(row0 + 1u) * PITCH + d]);
        let right = vec2f(k_tile[key0 * PITCH + d], k_tile[(key0 + 1u) * PITCH + d]);
        scores += left.xxyy * right.xyxy;
      }
      workgroupBarrier();
    }
    for (var i = 0u; i < 4u; i++) {
      let row = row0 + (i >> 1u);
      let key = key0 + (i & 1u);
      let outside = q_row + row >= params.seq_q || k_row + key >= params.seq_kv;
      let later = params.causal != 0u && k_row + key > q_row + row;
      var score = minus_infinity();
      if (!outside && !later) {
        score = with_mask(scores[i] * params.scale, mask_base, q_row + row, k_row + key);
      }
      weights[row * PITCH + key] = score;
    }
    workgroupBarrier();

    // Every thread of a row computes the row's new maximum.
    var new_maxima = maxima;
    for (var key = 0u; key < BLOCK; key++) {
      let pair = vec2f(weights[row0 * PITCH + key], weights[(row0 + 1u) * PITCH + key]);
      new_maxima = max(new_maxima, pair);
    }
    workgroupBarrier();
    for (var i = 0u; i < 4u; i++) {
      let at = (row0 + (i >> 1u)) * PITCH + key0 + (i & 1u);
      let score = weights[at];
      // -inf - -inf is NaN, but nothing must be added here.
      if (is_minus_infinity(score)) {
        weights[at] = bitcast<f32>(MASKED);
      } else if (!is_nan(score)) {
        weights[at] = exp(score - new_maxima[i >> 1u]);
      }
    }
    workgroupBarrier();
    var rescale = exp(maxima - new_maxima);
    if (is_minus_infinity(maxima.x)) {
      rescale.x = 0.0;
    }
    if (is_minus_infinity(maxima.y)) {
      rescale.y = 0.0;
    }
    maxima = new_maxima;
    output0 *= rescale.x;
    output1 *= rescale.y;
    totals *= rescale;
    let limit = min(BLOCK, params.seq_kv - k_row);
    for (var key = 0u; key < limit; key++) {
      let pair = vec2f(weights[row0 * PITCH + key], weights[(row0 + 1u) * PITCH + key]);
      let masked = bitcast<vec2u>(pair) == vec2u(MASKED);
      totals += select(pair, vec2f(), masked);
      var values = vec4f();
      let at = params.v_first + kv_base + (k_row + key) * params.kv_row + column;
      for (var j = 0u; j < 4u; j++) {
        if (column + j < params.head_dim) {
          values[j] = v[at + j];
        }
      }
      // A masked key must not affect the result even if its value is NaN: 0 × NaN is NaN.
      output0 += select(pair.x * values, vec4f(), masked.x);
      output1 += select(pair.y * values, vec4f(), masked.y);
    }
    workgroupBarrier();
  }

  for (var j = 0u; j < 4u; j++) {
    if (column + j < params.head_dim) {
      let at = (outer * params.seq_q + q_row + row0) * o_row + within + column + j;
      if (q_row + row0 < params.seq_q) {
        o[at] = select(output0[j] / totals.x, 0.0, bitcast<u32>(totals.x) == 0u);
      }
      if (q_row + row0 + 1u < params.seq_q) {
        o[at + o_row] = select(output1[j] / totals.y, 0.0, bitcast<u32>(totals.y) == 0u);
      }
    }
  }
}
