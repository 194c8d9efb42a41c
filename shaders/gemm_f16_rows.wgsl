// C = f(alpha A B + bias) + beta C for few rows, row-major and contiguous, float16 in memory and
// float32 sums; n a multiple of 8.
//
// Works on devices without shader-f16. A workgroup computes one row or four by 32 columns of C. 4
// adjacent threads read 8 columns each of a row of B. 64 such teams share the steps of k, and their
// sums are added in workgroup memory at the end. Reads B m / ROWS times, so it is limited by memory
// bandwidth if m is small.

@group(0) @binding(0) var<storage, read> a: array<u32>; // two halves each
@group(0) @binding(1) var<storage, read> b: array<vec4u>; // eight
@group(0) @binding(2) var<storage, read> bias: array<u32>;
@group(0) @binding(3) var<storage, read_write> c: array<u32>;

//#include lib/activation.wgsl
//#include lib/gemm_f16_params.wgsl
//#include lib/halves.wgsl

override ROWS: u32 = 4u; // per workgroup: 1 or 4
const COLUMNS = 32u;
const ACROSS = 4u; // adjacent threads
const TEAMS = 64u;
const THREADS = 256u;

var<workgroup> partial: array<vec4f, 2u * THREADS>; // [team][column / 4], of one row

fn half_at(i: u32) -> f32 {
  return half_of(a[i >> 1u], i);
}

// A step of all available rows.
fn column_of_a(rows: vec4u, step: u32) -> vec4f {
  if (ROWS == 1u) {
    return vec4f(half_at(rows.x + step), 0.0, 0.0, 0.0);
  }
  return vec4f(
    half_at(rows.x + step),
    half_at(rows.y + step),
    half_at(rows.z + step),
    half_at(rows.w + step),
  );
}

// Adds one more step of k to four rows' sums of four columns.
fn add(sums: mat4x4f, rows: vec4f, bits: vec2u) -> mat4x4f {
  let columns = widened(bits);
  return mat4x4f(
    fma(rows.xxxx, columns, sums[0]),
    fma(rows.yyyy, columns, sums[1]),
    fma(rows.zzzz, columns, sums[2]),
    fma(rows.wwww, columns, sums[3]),
  );
}

// Adds the teams' sums of a row and writes it: each of 64 threads adds 8 teams' sums of four
// columns, then each of 16 threads adds the eight results of two columns.
fn write(low: vec4f, high: vec4f, thread: u32, row: u32, column0: u32) {
  partial[2u * thread] = low;
  partial[2u * thread + 1u] = high;
  workgroupBarrier();
  let quads = COLUMNS / 4u;
  var sum = vec4f();
  if (thread < 64u) {
    let first = thread / quads * (TEAMS / 8u);
    for (var team = 0u; team < TEAMS / 8u; team++) {
      sum += partial[(first + team) * quads + thread % quads];
    }
  }
  workgroupBarrier();
  if (thread < 64u) {
    partial[thread] = sum;
  }
  workgroupBarrier();
  let column = column0 + 2u * thread;
  if (thread < COLUMNS / 2u && row < params.m && column < params.n) {
    var total = vec4f();
    for (var i = 0u; i < 8u; i++) {
      total += partial[i * quads + thread / 2u];
    }
    var values = params.alpha * select(total.xy, total.zw, (thread & 1u) == 1u);
    //#if BIASED
    if (params.biased != 0u) {
      values += unpack2x16float(bias[column / 2u]);
    }
    //#endif
    values = apply(values.xyxy).xy;
    let i = (c_first + row * params.n + column) / 2u;
    if (params.beta != 0.0) {
      values += params.beta * unpack2x16float(c[i]);
    }
    //#if WIDE
    if (WIDE == 1u) {
      c[2u * i] = bitcast<u32>(values.x);
      c[2u * i + 1u] = bitcast<u32>(values.y);
    } else
    //#endif
    {
      c[i] = narrowed(values.xyxy).x;
    }
  }
  workgroupBarrier();
}

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let tiles_across = (params.n + COLUMNS - 1u) / COLUMNS;
  let tile = group.y * groups.x + group.x;
  let row0 = tile / tiles_across * ROWS;
  if (row0 >= params.m) {
    return;
  }
  let column0 = tile % tiles_across * COLUMNS;
  let width = params.n / 8u;
  let inside = min(column0 / 8u + thread % ACROSS, width - 1u);
  let at = group.z * (params.b_batch / 8u) + inside;
  c_first = group.z * params.c_batch;
  let last = params.m - 1u; // rows past the end are replaced by the last one
  let first = vec4u(group.z * params.a_batch);
  let rows = first + min(vec4u(row0) + vec4u(0u, 1u, 2u, 3u), vec4u(last)) * params.k;
  var low = mat4x4f();
  var high = mat4x4f();
  var step = thread / ACROSS;
  for (; step + 3u * TEAMS < params.k; step += 4u * TEAMS) { // four reads in flight at a time
    let b0 = b[step * width + at];
    let b1 = b[(step + TEAMS) * width + at];
    let b2 = b[(step + 2u * TEAMS) * width + at];
    let b3 = b[(step + 3u * TEAMS) * width + at];
    let a0 = column_of_a(rows, step);
    let a1 = column_of_a(rows, step + TEAMS);
    let a2 = column_of_a(rows, step + 2u * TEAMS);
    let a3 = column_of_a(rows, step + 3u * TEAMS);
    low = add(add(low, a0, b0.xy), a1, b1.xy);
    high = add(add(high, a0, b0.zw), a1, b1.zw);
    low = add(add(low, a2, b2.xy), a3, b3.xy);
    high = add(add(high, a2, b2.zw), a3, b3.zw);
  }
  for (; step < params.k; step += TEAMS) {
    let bits = b[step * width + at];
    let values = column_of_a(rows, step);
    low = add(low, values, bits.xy);
    high = add(high, values, bits.zw);
  }
  write(low[0], high[0], thread, row0, column0);
  if (ROWS == 4u) {
    write(low[1], high[1], thread, row0 + 1u, column0);
    write(low[2], high[2], thread, row0 + 2u, column0);
    write(low[3], high[3], thread, row0 + 3u, column0);
  }
}
