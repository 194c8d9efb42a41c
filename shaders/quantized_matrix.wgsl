// Products of many vectors and a quantized matrix by subgroup matrices: y[v, r] = sum over k of
// a[r, k] b[k, v] + residual[v, r], with a and b of quantized_halves.wgsl and vector_halves.wgsl,
// whose scales are undone, and float32 sums. A row or vector that is not finite gives NaN. Without
// SCALED, a has float16 as the file has it.
// 2mnk operations; a is read n / COLUMNS times, b m / ROWS times.

enable f16;
enable subgroups;
enable chromium_experimental_subgroup_matrix;

diagnostic(off, chromium.subgroup_matrix_uniformity);

struct Params {
  m: u32, // rows of the quantized matrix
  n: u32, // vectors
  k: u32,
  a_batch: u32,
  b_batch: u32,
  c_batch: u32,
  added: u32,   // 1 if there is a residual [vectors, rows], 2 if it is [rows]
  missing: u32, // the bits of results that are not finite
}

@group(0) @binding(2) var<storage, read> largest_a: array<u32>;
@group(0) @binding(3) var<storage, read> largest_b: array<u32>;
@group(0) @binding(4) var<storage, read> residual: array<f32>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

var<private> c_first: u32;
const C_SHIFT = 0u;
const SIDE = 16u;
override SCALED: u32 = 1u;
const ONE = 141u << 23u; // magnitudes that are scaled by 1

//#include lib/halves_matrices.wgsl
//#include lib/split_scale.wgsl

// Writes one matrix of sums: SIDE rows from `row` on, of SIDE vectors from `column` on.
fn write(sum: Sum, subgroup: u32, lane: u32, row: u32, column: u32) {
  let tile = &c_tile[subgroup];
  subgroupMatrixStore<col_major>(tile, 0u, sum, C_PITCH);
  workgroupBarrier();
  let i = lane % SIDE;
  let r = row + i;
  if (r < params.m) {
    //#if SCALED
    let of_row = largest_a[r];
    //#else
    let of_row = ONE;
    //#endif
    //#end
    for (var j = lane / SIDE; j < SIDE; j += 32u / SIDE) {
      let v = column + j;
      if (v < params.n) {
        let of_vector = largest_b[v];
        let at = v * params.m + r;
        let sum_of_scaled = bitcast<f32>(tile[j * C_PITCH + i / 4u][i % 4u]);
        var result = scaled_back(sum_of_scaled, of_row, of_vector);
        if (params.added != 0u) {
          result += residual[select(at, r, params.added == 2u)];
        }
        if (max(of_row, of_vector) >= NOT_FINITE) {
          result = bitcast<f32>(params.missing);
        }
        y[at] = result;
      }
    }
  }
  workgroupBarrier();
}

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
  @builtin(subgroup_id) subgroup: u32,
  @builtin(subgroup_invocation_id) lane: u32,
) {
  multiply(group, groups, thread, subgroup, lane);
}
