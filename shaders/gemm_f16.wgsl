// C = f(alpha A B + bias) + beta C, row-major and contiguous, float16 in memory and float32 sums.
//
// Works on devices without shader-f16: two halves are read from and written to one u32. A workgroup
// of 16 × 16 threads computes a 32 × 32 tile of the product in registers, 16 steps of k at a time
// through workgroup memory. Two threads compute the two halves of a word of C. Each sets its half
// by an atomic xor, so n may be odd. Cost: 2mnk operations.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read> b: array<u32>;
@group(0) @binding(2) var<storage, read> bias: array<u32>;
@group(0) @binding(3) var<storage, read_write> c: array<atomic<u32>>;

//#include lib/activation.wgsl
//#include lib/gemm_f16_params.wgsl
//#include lib/halves.wgsl

const TILE = 32u;
const DEPTH = 16u;
const PITCH = 33u;

var<workgroup> a_tile: array<f32, DEPTH * PITCH>; // transposed: [k][row]
var<workgroup> b_tile: array<f32, DEPTH * PITCH>; // [k][column]

// Only this thread writes element i, but another may write the other half of its word.
fn store_half(i: u32, value: f32) {
  let shift = 16u * (i & 1u);
  let bits = half_bits(vec4f(value)).x;
  let old = atomicLoad(&c[i >> 1u]) & (0xffffu << shift);
  atomicXor(&c[i >> 1u], old ^ (bits << shift));
}

@compute @workgroup_size(16, 16)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_id) local: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let tile_columns = (params.n + TILE - 1u) / TILE;
  let tile_rows = (params.m + TILE - 1u) / TILE;
  let tile = group.y * groups.x + group.x;
  if (tile >= tile_rows * tile_columns) {
    return;
  }
  let row0 = tile / tile_columns * TILE;
  let column0 = tile % tile_columns * TILE;
  var sums = vec4f(); // rows y, y + 16 by columns x, x + 16
  for (var k0 = 0u; k0 < params.k; k0 += DEPTH) {
    for (var i = thread; i < TILE * DEPTH; i += 256u) {
      let row = row0 + i / DEPTH;
      let depth = k0 + i % DEPTH;
      var value = 0.0;
      if (row < params.m && depth < params.k) {
        let at = group.z * params.a_batch + row * params.k + depth;
        value = half_of(a[at >> 1u], at);
      }
      a_tile[i % DEPTH * PITCH + i / DEPTH] = value;
    }
    for (var i = thread; i < TILE * DEPTH; i += 256u) {
      let column = column0 + i % TILE;
      let depth = k0 + i / TILE;
      var value = 0.0;
      if (column < params.n && depth < params.k) {
        let at = group.z * params.b_batch + depth * params.n + column;
        value = half_of(b[at >> 1u], at);
      }
      b_tile[i / TILE * PITCH + i % TILE] = value;
    }
    workgroupBarrier();
    for (var d = 0u; d < DEPTH; d++) {
      let row = d * PITCH;
      let left = vec2f(a_tile[row + local.y], a_tile[row + local.y + 16u]);
      let right = vec2f(b_tile[row + local.x], b_tile[row + local.x + 16u]);
      sums += left.xxyy * right.xyxy;
    }
    workgroupBarrier();
  }
  for (var q = 0u; q < 4u; q++) {
    let row = row0 + local.y + 16u * (q >> 1u);
    let column = column0 + local.x + 16u * (q & 1u);
    if (row < params.m && column < params.n) {
      let i = group.z * params.c_batch + row * params.n + column;
      var value = params.alpha * sums[q];
      //#if BIASED
      if (params.biased != 0u) {
        value += half_of(bias[column >> 1u], column);
      }
      //#endif
      value = apply(vec4f(value)).x;
      if (params.beta != 0.0) {
        value += params.beta * half_of(atomicLoad(&c[i >> 1u]), i);
      }
      //#if WIDE
      if (WIDE == 1u) {
        atomicStore(&c[i], bitcast<u32>(value));
      } else
      //#endif
      {
        store_half(i, value);
      }
    }
  }
}
