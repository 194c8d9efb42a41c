// C = f(alpha A B + bias + beta C) + residual as in gemm.wgsl, for float32 matrices with line
// lengths divisible by 4. Each of A and B is contiguous along its rows or its columns. Its line
// strides, n and c_row are multiples of 4, and k is a multiple of DEPTH.
//
// A workgroup of ACROSS × DOWN threads computes 8 DOWN rows of C and 4 ACROSS QUADS columns. A
// thread holds two vec4s of rows by QUADS of columns. Strips of both operands go through workgroup
// memory with k as the slow index, four rows or columns per vec4, while the next strips load. The
// steps of a strip are unrolled, and each sum is a separate variable: a loop, or matrices of sums,
// take 15 % longer on an NVIDIA H200. Lines past the end are loaded as the last one, since their
// results are not stored.

struct Params {
  m: u32,
  n: u32,
  k: u32,
  a_line: u32, // vec4s from one row or column to the next
  b_line: u32,
  c_row: u32,
  a_batch: u32, // vec4s from one matrix of the batch to the next
  b_batch: u32,
  c_batch: u32, // from one part to the next
  first: u32, // of z
  chunk: u32, // a multiple of DEPTH
  added: u32, // bits: 1 a bias of n elements for every row, 2 the residual, with C's layout
  alpha: f32,
  beta: f32, // 0: C is not read
}

@group(0) @binding(0) var<storage, read> a: array<vec4f>;
@group(0) @binding(1) var<storage, read> b: array<vec4f>;
@group(0) @binding(2) var<storage, read> bias: array<vec4f>;
@group(0) @binding(3) var<storage, read> residual: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> c: array<vec4f>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/activation.wgsl
//#include lib/tiles.wgsl

override A_ALONG: bool = true; // A is contiguous along its rows, and so along k
override B_ALONG: bool = false; // B is contiguous along its columns
override DOWN: u32 = 16u; // 16 or 8
override QUADS: u32 = 4u; // 2 or 4

const ACROSS = 8u;
const DEPTH = 16u;
override THREADS = ACROSS * DOWN;
override A_LINES = 2u * DOWN; // vec4s
override B_LINES = ACROSS * QUADS;
override A_PITCH = A_LINES + 1u; // so that stores across lines use all banks
override B_PITCH = B_LINES + 1u;
override ROWS = 4u * A_LINES; // of the tile
override COLUMNS = 4u * B_LINES;
override B_LOADS = B_LINES * DEPTH / THREADS; // vec4s of B that a thread loads: 2 or 4; of A 4

var<workgroup> a_tile: array<vec4f, DEPTH * A_PITCH>;
var<workgroup> b_tile: array<vec4f, DEPTH * B_PITCH>;

// The line and the vec4 of steps of a load along k.
fn place_along(load: u32) -> vec2u {
  return vec2u(load / 4u, load % 4u);
}

fn a_from(load: u32, row0: u32) -> u32 {
  if (A_ALONG) {
    let place = place_along(load);
    return min(row0 + place.x, params.m - 1u) * params.a_line + place.y;
  }
  return load / A_LINES * params.a_line + min(row0 / 4u + load % A_LINES, params.m / 4u - 1u);
}

fn b_from(load: u32, column0: u32) -> u32 {
  if (B_ALONG) {
    let place = place_along(load);
    return min(column0 + place.x, params.n - 1u) * params.b_line + place.y;
  }
  return load / B_LINES * params.b_line + min(column0 / 4u + load % B_LINES, params.n / 4u - 1u);
}

fn keep_a(load: u32, v: vec4f) {
  if (A_ALONG) {
    let place = place_along(load);
    let at = place.x / 4u + 4u * A_PITCH * place.y;
    let part = place.x % 4u;
    a_tile[at][part] = v.x;
    a_tile[at + A_PITCH][part] = v.y;
    a_tile[at + 2u * A_PITCH][part] = v.z;
    a_tile[at + 3u * A_PITCH][part] = v.w;
  } else {
    a_tile[load / A_LINES * A_PITCH + load % A_LINES] = v;
  }
}

fn keep_b(load: u32, v: vec4f) {
  if (B_ALONG) {
    let place = place_along(load);
    let at = place.x / 4u + 4u * B_PITCH * place.y;
    let part = place.x % 4u;
    b_tile[at][part] = v.x;
    b_tile[at + B_PITCH][part] = v.y;
    b_tile[at + 2u * B_PITCH][part] = v.z;
    b_tile[at + 3u * B_PITCH][part] = v.w;
  } else {
    b_tile[load / B_LINES * B_PITCH + load % B_LINES] = v;
  }
}

// Four neighbours of a row.
fn store(row: u32, column: u32, sums: vec4f, base: u32) {
  if (row >= params.m || 4u * column >= params.n) {
    return;
  }
  let at = base + row * params.c_row + column;
  var value = params.alpha * sums;
  if ((params.added & 1u) != 0u) {
    value += bias[column];
  }
  if (params.beta != 0.0) {
    value += params.beta * c[at];
  }
  value = apply(value);
  if ((params.added & 2u) != 0u) {
    value += residual[at];
  }
  c[at] = value;
}

fn store_row(row: u32, column: u32, s0: vec4f, s1: vec4f, s2: vec4f, s3: vec4f, base: u32) {
  store(row, column, s0, base);
  store(row, column + ACROSS, s1, base);
  if (QUADS > 2u) {
    store(row, column + 2u * ACROSS, s2, base);
    store(row, column + 3u * ACROSS, s3, base);
  }
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

  let pieces = max(1u, (params.k + params.chunk - 1u) / params.chunk);
  let layer = params.first + group.z;
  let begin = layer % pieces * params.chunk;
  let end = min(params.k, begin + params.chunk);

  let x = thread % ACROSS;
  let y = thread / ACROSS;
  // Distances between strips, and to the first.
  let a_step = select(DEPTH * params.a_line, DEPTH / 4u, A_ALONG);
  let b_step = select(DEPTH * params.b_line, DEPTH / 4u, B_ALONG);
  let a_begin = layer / pieces * params.a_batch + begin / DEPTH * a_step;
  let b_begin = layer / pieces * params.b_batch + begin / DEPTH * b_step;
  var a_at0 = a_begin + a_from(thread, row0);
  var a_at1 = a_begin + a_from(thread + THREADS, row0);
  var a_at2 = a_begin + a_from(thread + 2u * THREADS, row0);
  var a_at3 = a_begin + a_from(thread + 3u * THREADS, row0);
  var b_at0 = b_begin + b_from(thread, column0);
  var b_at1 = b_begin + b_from(thread + THREADS, column0);
  var b_at2 = b_begin + b_from(thread + 2u * THREADS, column0);
  var b_at3 = b_begin + b_from(thread + 3u * THREADS, column0);
  var a0: vec4f;
  var a1: vec4f;
  var a2: vec4f;
  var a3: vec4f;
  var b0: vec4f;
  var b1: vec4f;
  var b2: vec4f;
  var b3: vec4f;

  // s, the vec4 of rows, the row in it, and the vec4 of columns
  var s000: vec4f; var s001: vec4f; var s002: vec4f; var s003: vec4f;
  var s010: vec4f; var s011: vec4f; var s012: vec4f; var s013: vec4f;
  var s020: vec4f; var s021: vec4f; var s022: vec4f; var s023: vec4f;
  var s030: vec4f; var s031: vec4f; var s032: vec4f; var s033: vec4f;
  var s100: vec4f; var s101: vec4f; var s102: vec4f; var s103: vec4f;
  var s110: vec4f; var s111: vec4f; var s112: vec4f; var s113: vec4f;
  var s120: vec4f; var s121: vec4f; var s122: vec4f; var s123: vec4f;
  var s130: vec4f; var s131: vec4f; var s132: vec4f; var s133: vec4f;

  if (begin < end) {
    a0 = a[a_at0];
    a1 = a[a_at1];
    a2 = a[a_at2];
    a3 = a[a_at3];
    b0 = b[b_at0];
    b1 = b[b_at1];
    if (B_LOADS > 2u) {
      b2 = b[b_at2];
      b3 = b[b_at3];
    }
  }
  for (var k0 = begin; k0 < end; k0 += DEPTH) {
    keep_a(thread, a0);
    keep_a(thread + THREADS, a1);
    keep_a(thread + 2u * THREADS, a2);
    keep_a(thread + 3u * THREADS, a3);
    keep_b(thread, b0);
    keep_b(thread + THREADS, b1);
    if (B_LOADS > 2u) {
      keep_b(thread + 2u * THREADS, b2);
      keep_b(thread + 3u * THREADS, b3);
    }
    workgroupBarrier();
    if (k0 + DEPTH < end) {
      a_at0 += a_step;
      a_at1 += a_step;
      a_at2 += a_step;
      a_at3 += a_step;
      b_at0 += b_step;
      b_at1 += b_step;
      a0 = a[a_at0];
      a1 = a[a_at1];
      a2 = a[a_at2];
      a3 = a[a_at3];
      b0 = b[b_at0];
      b1 = b[b_at1];
      if (B_LOADS > 2u) {
        b_at2 += b_step;
        b2 = b[b_at2];
        b_at3 += b_step;
        b3 = b[b_at3];
      }
    }
    //#repeat STEP 16
    {
      let r0 = a_tile[STEP * A_PITCH + y];
      let r1 = a_tile[STEP * A_PITCH + y + DOWN];
      let q0 = b_tile[STEP * B_PITCH + x];
      let q1 = b_tile[STEP * B_PITCH + x + ACROSS];
      s000 = fma(vec4f(r0.x), q0, s000);
      s001 = fma(vec4f(r0.x), q1, s001);
      s010 = fma(vec4f(r0.y), q0, s010);
      s011 = fma(vec4f(r0.y), q1, s011);
      s020 = fma(vec4f(r0.z), q0, s020);
      s021 = fma(vec4f(r0.z), q1, s021);
      s030 = fma(vec4f(r0.w), q0, s030);
      s031 = fma(vec4f(r0.w), q1, s031);
      s100 = fma(vec4f(r1.x), q0, s100);
      s101 = fma(vec4f(r1.x), q1, s101);
      s110 = fma(vec4f(r1.y), q0, s110);
      s111 = fma(vec4f(r1.y), q1, s111);
      s120 = fma(vec4f(r1.z), q0, s120);
      s121 = fma(vec4f(r1.z), q1, s121);
      s130 = fma(vec4f(r1.w), q0, s130);
      s131 = fma(vec4f(r1.w), q1, s131);
      if (QUADS > 2u) {
        let q2 = b_tile[STEP * B_PITCH + x + 2u * ACROSS];
        s002 = fma(vec4f(r0.x), q2, s002);
        s012 = fma(vec4f(r0.y), q2, s012);
        s022 = fma(vec4f(r0.z), q2, s022);
        s032 = fma(vec4f(r0.w), q2, s032);
        s102 = fma(vec4f(r1.x), q2, s102);
        s112 = fma(vec4f(r1.y), q2, s112);
        s122 = fma(vec4f(r1.z), q2, s122);
        s132 = fma(vec4f(r1.w), q2, s132);
        let q3 = b_tile[STEP * B_PITCH + x + 3u * ACROSS];
        s003 = fma(vec4f(r0.x), q3, s003);
        s013 = fma(vec4f(r0.y), q3, s013);
        s023 = fma(vec4f(r0.z), q3, s023);
        s033 = fma(vec4f(r0.w), q3, s033);
        s103 = fma(vec4f(r1.x), q3, s103);
        s113 = fma(vec4f(r1.y), q3, s113);
        s123 = fma(vec4f(r1.z), q3, s123);
        s133 = fma(vec4f(r1.w), q3, s133);
      }
    }
    //#end
    workgroupBarrier();
  }
  let base = layer * params.c_batch;
  let row = row0 + 4u * y;
  let column = column0 / 4u + x;
  store_row(row, column, s000, s001, s002, s003, base);
  store_row(row + 1u, column, s010, s011, s012, s013, base);
  store_row(row + 2u, column, s020, s021, s022, s023, base);
  store_row(row + 3u, column, s030, s031, s032, s033, base);
  let lower = row + 4u * DOWN;
  store_row(lower, column, s100, s101, s102, s103, base);
  store_row(lower + 1u, column, s110, s111, s112, s113, base);
  store_row(lower + 2u, column, s120, s121, s122, s123, base);
  store_row(lower + 3u, column, s130, s131, s132, s133, base);
}
