// C = f(alpha A B + bias) + beta C, row-major and contiguous, float16 in memory and float32 sums.
// Rows are whole vec4us: n and k are multiples of 8, or rows are padded to such lengths (A's with
// zeros).
//
// Works on devices without shader-f16. A workgroup of 128 threads computes a 128 × 128 tile of C,
// 16 steps of k at a time. The tiles of A, transposed, and of B are unpacked to float32 in
// workgroup memory, while the next ones are being read. A thread computes 16 rows by 8 columns, as
// 4 × 4 blocks of sums in registers. Cost: 2mnk operations, almost all FMAs; A is read n / 128
// times, B m / 128 times.

@group(0) @binding(0) var<storage, read> a: array<vec4u>; // eight halves each
@group(0) @binding(1) var<storage, read> b: array<vec4u>;
@group(0) @binding(2) var<storage, read> bias: array<vec2u>;
@group(0) @binding(3) var<storage, read_write> c: array<vec2u>; // four, or two floats

//#include lib/activation.wgsl
//#include lib/gemm_f16_params.wgsl
//#include lib/halves.wgsl
//#include lib/tiles.wgsl

const ROWS = 128u; // of the tile of C
const COLUMNS = 128u;
const DEPTH = 16u;
const THREADS = 128u;
const A_PITCH = 132u; // padded, so that threads store to different banks at the same time
const B_PITCH = 32u; // in vec4f

var<workgroup> a_tile: array<f32, DEPTH * A_PITCH>; // [k][row]
var<workgroup> b_tile: array<vec4f, DEPTH * B_PITCH>; // [k][column / 4]

// Adds one more step to a 4 × 4 block of sums, with one row per vector.
fn step(sums: mat4x4f, rows: vec4f, columns: vec4f) -> mat4x4f {
  return mat4x4f(
    fma(rows.xxxx, columns, sums[0]),
    fma(rows.yyyy, columns, sums[1]),
    fma(rows.zzzz, columns, sums[2]),
    fma(rows.wwww, columns, sums[3]),
  );
}

fn write(sums: vec4f, row: u32, column: u32) {
  let width = (params.n + 7u) / 8u * 2u;
  if (row >= params.m || column / 4u >= width) {
    return;
  }
  let i = c_first + row * width + column / 4u;
  var values = params.alpha * sums;
  //#if BIASED
  if (params.biased != 0u) {
    values += widened(bias[column / 4u]);
  }
  //#endif
  values = apply(values);
  if (params.beta != 0.0) {
    values += params.beta * widened(c[i]);
  }
  //#if WIDE
  if (WIDE == 1u) {
    c[2u * i] = bitcast<vec2u>(values.xy);
    c[2u * i + 1u] = bitcast<vec2u>(values.zw);
  } else
  //#endif
  {
    c[i] = narrowed(values);
  }
}

fn write_block(sums: mat4x4f, row: u32, column: u32) {
  write(sums[0], row, column);
  write(sums[1], row + 1u, column);
  write(sums[2], row + 2u, column);
  write(sums[3], row + 3u, column);
}

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let tile = tile_of(group, groups);
  if (tile.is_outside) {
    return;
  }
  let row0 = tile.row;
  let column0 = tile.column;
  c_first = group.z * (params.c_batch / 4u);

  // This thread's part of the tiles: 8 steps of two rows of A, and 8 columns of two rows of B. Rows
  // and columns past the end are replaced by the last ones.
  let a_width = (params.k + 7u) / 8u;
  let b_width = (params.n + 7u) / 8u;
  let a_row = thread / 2u;
  let a_column = thread % 2u;
  let b_row = thread / 16u;
  let b_column = thread % 16u;
  let a_first = group.z * (params.a_batch / 8u) + a_column;
  let a_at0 = a_first + min(row0 + a_row, params.m - 1u) * a_width;
  let a_at1 = a_first + min(row0 + a_row + 64u, params.m - 1u) * a_width;
  let b_first = group.z * (params.b_batch / 8u);
  let b_at0 = b_first + b_row * b_width + min(column0 / 8u + b_column, b_width - 1u);
  let b_at1 = b_at0 + 8u * b_width;
  let a_to = a_column * 8u * A_PITCH + a_row;
  let b_to = b_row * B_PITCH + b_column * 2u;
  var next_a0 = a[a_at0];
  var next_a1 = a[a_at1];
  var next_b0 = b[b_at0];
  var next_b1 = b[b_at1];

  let x = thread % 16u; // columns 4x to 4x + 3, and the same plus 64
  let y = thread / 16u; // rows 4y to 4y + 3, and the same plus 32, 64 and 96
  var sums00 = mat4x4f();
  var sums01 = mat4x4f();
  var sums10 = mat4x4f();
  var sums11 = mat4x4f();
  var sums20 = mat4x4f();
  var sums21 = mat4x4f();
  var sums30 = mat4x4f();
  var sums31 = mat4x4f();

  for (var k0 = 0u; k0 < params.k; k0 += DEPTH) {
    // Masked here rather than after the read, which would wait for the memory.
    if (k0 + DEPTH > params.k) { // k past the end counts as zero
      let inside = k0 / 8u + a_column < a_width;
      next_a0 = select(vec4u(), next_a0, inside);
      next_a1 = select(vec4u(), next_a1, inside);
      next_b0 = select(vec4u(), next_b0, k0 + b_row < params.k);
      next_b1 = select(vec4u(), next_b1, k0 + b_row + 8u < params.k);
    }
    // Indices of workgroup memory are written out here. In a function, the compiler would not see
    // that they are in bounds, and clamp them.
    let a0_0 = unpack2x16float(next_a0.x);
    let a0_1 = unpack2x16float(next_a0.y);
    let a0_2 = unpack2x16float(next_a0.z);
    let a0_3 = unpack2x16float(next_a0.w);
    a_tile[a_to] = a0_0.x;
    a_tile[a_to + A_PITCH] = a0_0.y;
    a_tile[a_to + 2u * A_PITCH] = a0_1.x;
    a_tile[a_to + 3u * A_PITCH] = a0_1.y;
    a_tile[a_to + 4u * A_PITCH] = a0_2.x;
    a_tile[a_to + 5u * A_PITCH] = a0_2.y;
    a_tile[a_to + 6u * A_PITCH] = a0_3.x;
    a_tile[a_to + 7u * A_PITCH] = a0_3.y;
    let a1_0 = unpack2x16float(next_a1.x);
    let a1_1 = unpack2x16float(next_a1.y);
    let a1_2 = unpack2x16float(next_a1.z);
    let a1_3 = unpack2x16float(next_a1.w);
    a_tile[a_to + 64u] = a1_0.x;
    a_tile[a_to + 64u + A_PITCH] = a1_0.y;
    a_tile[a_to + 64u + 2u * A_PITCH] = a1_1.x;
    a_tile[a_to + 64u + 3u * A_PITCH] = a1_1.y;
    a_tile[a_to + 64u + 4u * A_PITCH] = a1_2.x;
    a_tile[a_to + 64u + 5u * A_PITCH] = a1_2.y;
    a_tile[a_to + 64u + 6u * A_PITCH] = a1_3.x;
    a_tile[a_to + 64u + 7u * A_PITCH] = a1_3.y;
    b_tile[b_to] = widened(next_b0.xy);
    b_tile[b_to + 1u] = widened(next_b0.zw);
    let b_to1 = b_to + 8u * B_PITCH;
    b_tile[b_to1] = widened(next_b1.xy);
    b_tile[b_to1 + 1u] = widened(next_b1.zw);
    workgroupBarrier();
    let k1 = k0 + DEPTH;
    if (k1 < params.k) { // the next tiles load during the multiplication
      next_a0 = a[a_at0 + k1 / 8u];
      next_a1 = a[a_at1 + k1 / 8u];
      next_b0 = b[b_at0 + k1 * b_width];
      next_b1 = b[b_at1 + k1 * b_width];
    }
    for (var d = 0u; d < DEPTH; d++) {
      let at = d * A_PITCH + 4u * y;
      let b0 = b_tile[d * B_PITCH + x];
      let b1 = b_tile[d * B_PITCH + x + 16u];
      let a0 = vec4f(a_tile[at], a_tile[at + 1u], a_tile[at + 2u], a_tile[at + 3u]);
      sums00 = step(sums00, a0, b0);
      sums01 = step(sums01, a0, b1);
      let a1 = vec4f(a_tile[at + 32u], a_tile[at + 33u], a_tile[at + 34u], a_tile[at + 35u]);
      sums10 = step(sums10, a1, b0);
      sums11 = step(sums11, a1, b1);
      let a2 = vec4f(a_tile[at + 64u], a_tile[at + 65u], a_tile[at + 66u], a_tile[at + 67u]);
      sums20 = step(sums20, a2, b0);
      sums21 = step(sums21, a2, b1);
      let a3 = vec4f(a_tile[at + 96u], a_tile[at + 97u], a_tile[at + 98u], a_tile[at + 99u]);
      sums30 = step(sums30, a3, b0);
      sums31 = step(sums31, a3, b1);
    }
    workgroupBarrier();
  }
  let row = row0 + 4u * y;
  let column = column0 + 4u * x;
  write_block(sums00, row, column);
  write_block(sums01, row, column + 64u);
  write_block(sums10, row + 32u, column);
  write_block(sums11, row + 32u, column + 64u);
  write_block(sums20, row + 64u, column);
  write_block(sums21, row + 64u, column + 64u);
  write_block(sums30, row + 96u, column);
  write_block(sums31, row + 96u, column + 64u);
}
