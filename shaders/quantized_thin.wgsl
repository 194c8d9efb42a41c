// Products of a few vectors and a matrix of quantized integers: y[v, n] = sum over k of x[v, k]
// weight[n, k] + residual[v, n]. The matrix is read once for up to VECTORS vectors. Each workgroup
// first turns the vectors into integers of 16 bits with a scale for 16 elements, as high and low
// bytes, so that products of integers are dot products of packed bytes. LANES adjacent threads share
// ROWS rows of the matrix, 32 elements at a time: two times 16 that a format stores in the same
// bytes. A single vector may be normalized before, and the product of one may be gated.

struct Params {
  rows: u32,    // of the matrix
  columns: u32, // of the matrix
  vectors: u32,
  added: u32,   // 1 if there is a residual [vectors, rows], 2 if it is [rows]
  normed: u32,  // 1 if x is a vector to divide by its root mean square and multiply by norm
  gate: u32,    // y[n] = f(first half of the rows) * second half for a vector, by f's code, or 0
  eps: f32,     // added to the mean of squares
}

@group(0) @binding(0) var<storage, read> blocks: array<u32>;
@group(0) @binding(1) var<storage, read> x: array<vec4f>;
@group(0) @binding(2) var<storage, read> residual: array<f32>;
@group(0) @binding(3) var<storage, read> norm: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> y: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/quantized.wgsl

//#include lib/quantized_sums.wgsl

const CHUNKS = 128u;  // of 16 elements, of all vectors
const LARGEST = 32512.0; // high bytes are at most 127
const LEAST_SIZE = 1e-32; // so that a scale is a normal number

var<workgroup> high: array<vec4u, CHUNKS + CHUNKS / 8u>; // a gap after 8 avoids bank conflicts
var<workgroup> low: array<vec4u, CHUNKS + CHUNKS / 8u>;
var<workgroup> scales: array<vec2f, CHUNKS>; // and sums of the 16 elements
var<workgroup> squares: array<f32, CHUNKS>;  // sums of the squares of x, if it is normalized

fn sizes_of(four: vec4f) -> vec4u { // without signs, the order of bits is that of the numbers
  return bitcast<vec4u>(four) & vec4u(0x7fffffffu);
}

// Turns 16 elements, from a vec4 on, into chunk c. The product is divided by the root mean square
// at the end.
fn quantize(at: u32, c: u32) {
  var x0 = x[at];
  var x1 = x[at + 1u];
  var x2 = x[at + 2u];
  var x3 = x[at + 3u];
  if (params.normed != 0u) {
    squares[c] = (dot(x0, x0) + dot(x1, x1)) + (dot(x2, x2) + dot(x3, x3));
    x0 *= norm[at];
    x1 *= norm[at + 1u];
    x2 *= norm[at + 2u];
    x3 *= norm[at + 3u];
  }
  let sizes = max(max(sizes_of(x0), sizes_of(x1)), max(sizes_of(x2), sizes_of(x3)));
  let most = max(max(sizes.x, sizes.y), max(sizes.z, sizes.w));
  let largest = max(bitcast<f32>(most), LEAST_SIZE);
  var scale = largest / LARGEST;
  if (most >= 0x7f800000u) { // infinity or NaN: the sums become NaN
    scale = bitcast<f32>(most | 0x400000u);
  }
  let factor = LARGEST / largest;
  let i0 = vec4i(round(x0 * factor));
  let i1 = vec4i(round(x1 * factor));
  let i2 = vec4i(round(x2 * factor));
  let i3 = vec4i(round(x3 * factor));
  let h0 = (i0 + vec4i(128)) >> vec4u(8u);
  let h1 = (i1 + vec4i(128)) >> vec4u(8u);
  let h2 = (i2 + vec4i(128)) >> vec4u(8u);
  let h3 = (i3 + vec4i(128)) >> vec4u(8u);
  // Bytes keep the low 8 bits, so the low bytes are those of the numbers.
  high[c + c / 8u] = vec4u(pack4xI8(h0), pack4xI8(h1), pack4xI8(h2), pack4xI8(h3));
  low[c + c / 8u] = vec4u(pack4xI8(i0), pack4xI8(i1), pack4xI8(i2), pack4xI8(i3));
  let sum = (i0 + i1) + (i2 + i3);
  scales[c] = vec2f(scale, scale * f32((sum.x + sum.y) + (sum.z + sum.w)));
}

// The sum of the products of 16 elements.
fn products(numbers: vec4u, c: u32) -> f32 {
  let highs = high[c + c / 8u];
  let lows = low[c + c / 8u];
  let upper = dot4I8Packed(numbers.x, highs.x) + dot4I8Packed(numbers.y, highs.y)
    + dot4I8Packed(numbers.z, highs.z) + dot4I8Packed(numbers.w, highs.w);
  let lower = dot4I8Packed(numbers.x, lows.x) + dot4I8Packed(numbers.y, lows.y)
    + dot4I8Packed(numbers.z, lows.z) + dot4I8Packed(numbers.w, lows.w);
  return f32(256 * upper + lower);
}

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let first_row = first_row_of(group.y * groups.x + group.x, thread);
  let elements = block_elements();
  let row_blocks = params.columns / elements;
  let span = 16u * CHUNKS / VECTORS; // columns in workgroup memory
  let apart = pair_distance() / 16u; // chunks
  var sums: array<f32, MOST>;
  var own_squares = 0.0;
  let rounds = (params.columns + span - 1u) / span;
  for (var round_number = 0u; round_number < rounds; round_number++) {
    // Workgroups begin at different columns, so that they read from all channels of the memory.
    let begin = (round_number + group.x) % rounds * span;
    workgroupBarrier();
    for (var c = thread; c < CHUNKS; c += THREADS) {
      let v = c / (span / 16u);
      let column = begin + 16u * (c % (span / 16u));
      if (v < params.vectors && column < params.columns) {
        quantize((v * params.columns + column) / 4u, c);
      }
    }
    workgroupBarrier();
    let units = min(span, params.columns - begin) / 32u;
    for (var unit = thread % LANES; unit < units; unit += LANES) {
      let one = 2u * apart * (unit / apart) + unit % apart; // chunks
      let other = one + apart;
      let column = begin + 16u * one;
      let at = column % elements;
      if (params.normed != 0u) {
        own_squares += squares[one] + squares[other];
      }
      for (var r = 0u; r < ROWS; r++) {
        let row = min(row_of(first_row, r), params.rows - 1u);
        let block = (row * row_blocks + column / elements) * block_bytes();
        let own = sixteen_numbers(block, at);
        let others = sixteen_numbers(block, at + 16u * apart);
        let own_scales = scales_of(block, at);
        let other_scales = scales_of(block, at + 16u * apart);
        for (var v = 0u; v < VECTORS; v++) {
          let c = v * (span / 16u) + one;
          let d = c + apart;
          var sum = own_scales.x * scales[c].x * products(own, c)
            + other_scales.x * scales[d].x * products(others, d);
          if (has_minimum() || offset() > 0u) {
            let below = f32(offset());
            sum += (own_scales.y - below * own_scales.x) * scales[c].y
              + (other_scales.y - below * other_scales.x) * scales[d].y;
          }
          sums[r * VECTORS + v] += sum;
        }
      }
    }
  }
  finish(sums, own_squares, first_row, thread);
}
