// C = f(alpha A B + bias + beta C) + residual if C has at most 4 rows or at most 4 columns, batched:
// vectors times a matrix, which is read once. It is limited by memory bandwidth.
//
// A line is the part of the matrix that gives one element of C for one vector: a column of B if C
// has few rows, a row of A if it has few columns. A thread sums 4 lines by VECTORS vectors over its
// share of k. LANES adjacent threads work along lines; the others share k and add up in workgroup
// memory. LANES = 1 is for lines that are contiguous along k. More lanes are for lines that are
// neighbours in memory. There, QUADS reads four of them as a vec4, if all strides are multiples of
// 4. The grid's x is blocks of lines, y the parts of k of length chunk (one part without
// gemm_sum.wgsl), z the batch. With MIXED, any operand but C may be float16, as `added` says. Sums
// are float32.

struct Params {
  lines: u32,
  vectors: u32,
  k: u32,
  x_line: u32, // elements of the matrix from one line to the next, and from one k to the next
  x_step: u32,
  v_line: u32, // the same of the vectors
  v_step: u32,
  c_line: u32,
  c_vector: u32,
  x_batch: u32,
  v_batch: u32,
  c_batch: u32,
  chunk: u32,
  // bits: 1 a bias for each line, 2 for each vector, 4 the residual, with C's layout; float16 are 8
  // the matrix, 16 the vectors, 32 the bias, 64 the residual; from 256 on the activation
  added: u32,
  alpha: f32,
  beta: f32,
}

@group(0) @binding(0) var<storage, read> x: array<u32>; // a float each, or two halves
@group(0) @binding(1) var<storage, read> x4: array<vec4u>; // the same
@group(0) @binding(2) var<storage, read> v: array<u32>;
@group(0) @binding(3) var<storage, read> bias: array<u32>;
@group(0) @binding(4) var<storage, read> residual: array<u32>;
@group(0) @binding(5) var<storage, read_write> c: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/activation_of_one.wgsl
//#include lib/halves.wgsl

override LANES: u32 = 1u;
override VECTORS: u32 = 1u; // 1, or 4 with the last one repeated as needed
override QUADS: bool = false;
override MIXED: bool = false;
override THREADS: u32 = 256u;

override APART = select(LANES, 1u, QUADS); // distance between a thread's lines

var<workgroup> parts: array<vec4f, THREADS>;

fn are_halves(bit: u32) -> bool {
  return MIXED && (params.added & bit) != 0u;
}

fn x_value(i: u32) -> f32 {
  if (are_halves(8u)) {
    return half_of(x[i / 2u], i);
  }
  return bitcast<f32>(x[i]);
}

fn v_value(i: u32) -> f32 {
  if (are_halves(16u)) {
    return half_of(v[i / 2u], i);
  }
  return bitcast<f32>(v[i]);
}

fn bias_at(i: u32) -> f32 {
  if (are_halves(32u)) {
    return half_of(bias[i / 2u], i);
  }
  return bitcast<f32>(bias[i]);
}

fn residual_at(i: u32) -> f32 {
  if (are_halves(64u)) {
    return half_of(residual[i / 2u], i);
  }
  return bitcast<f32>(residual[i]);
}

// A step's elements of the thread's lines. Results past the last line are not stored.
fn four_lines(at: u32) -> vec4f {
  if (QUADS) {
    if (are_halves(8u)) {
      let eight = x4[at / 8u];
      let four = select(eight.xy, eight.zw, (at & 4u) != 0u);
      return widened(four);
    }
    return bitcast<vec4f>(x4[at / 4u]);
  }
  let apart = LANES * params.x_line;
  return vec4f(x_value(at), x_value(at + apart), x_value(at + 2u * apart), x_value(at + 3u * apart));
}

// A vector's elements at four of the thread's steps.
fn four_steps(at: u32) -> vec4f {
  let apart = THREADS / LANES * params.v_step;
  return vec4f(v_value(at), v_value(at + apart), v_value(at + 2u * apart), v_value(at + 3u * apart));
}

// The sum over all threads of a lane of lines.
fn total(sum: vec4f, thread: u32) -> vec4f {
  workgroupBarrier();
  parts[thread] = sum;
  workgroupBarrier();
  for (var half = THREADS / 2u; half >= LANES; half /= 2u) {
    if (thread < half) {
      parts[thread] += parts[thread + half];
    }
    workgroupBarrier();
  }
  return parts[thread % LANES];
}

fn store(first: u32, vector: u32, sums: vec4f, base: u32) {
  if (vector >= params.vectors) {
    return;
  }
  let function: u32 = params.added >> 8u; // f: 0 none, 1 relu, 2 gelu, 3 silu, 4 gelu_erf
  for (var i = 0u; i < 4u; i++) {
    let line = first + i * APART;
    if (line < params.lines) {
      let at = base + line * params.c_line + vector * params.c_vector;
      var value = params.alpha * sums[i];
      if ((params.added & 3u) != 0u) {
        value += bias_at(select(vector, line, (params.added & 1u) != 0u));
      }
      if (params.beta != 0.0) {
        value += params.beta * c[at];
      }
      value = apply(value, function);
      if ((params.added & 4u) != 0u) {
        value += residual_at(at);
      }
      c[at] = value;
    }
  }
}

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let lane = thread % LANES;
  let first = group.x * 4u * LANES + select(lane, 4u * lane, QUADS);
  let x_at = group.z * params.x_batch + first * params.x_line;
  let v_lines = min(vec4u(0u, 1u, 2u, 3u), vec4u(params.vectors - 1u)) * params.v_line;
  let v_at = group.z * params.v_batch + v_lines;

  var sums0 = vec4f();
  var sums1 = vec4f();
  var sums2 = vec4f();
  var sums3 = vec4f();
  let begin = group.y * params.chunk;
  let end = min(params.k, begin + params.chunk);
  let stride = THREADS / LANES;
  var k = begin + thread / LANES;
  for (; k + 3u * stride < end; k += 4u * stride) { // four loads in flight at a time
    let values0 = four_lines(x_at + k * params.x_step);
    let values1 = four_lines(x_at + (k + stride) * params.x_step);
    let values2 = four_lines(x_at + (k + 2u * stride) * params.x_step);
    let values3 = four_lines(x_at + (k + 3u * stride) * params.x_step);
    let values = mat4x4f(values0, values1, values2, values3);
    sums0 += values * four_steps(v_at.x + k * params.v_step);
    if (VECTORS > 1u) {
      sums1 += values * four_steps(v_at.y + k * params.v_step);
      sums2 += values * four_steps(v_at.z + k * params.v_step);
      sums3 += values * four_steps(v_at.w + k * params.v_step);
    }
  }
  for (; k < end; k += stride) {
    let values = four_lines(x_at + k * params.x_step);
    sums0 += v_value(v_at.x + k * params.v_step) * values;
    if (VECTORS > 1u) {
      sums1 += v_value(v_at.y + k * params.v_step) * values;
      sums2 += v_value(v_at.z + k * params.v_step) * values;
      sums3 += v_value(v_at.w + k * params.v_step) * values;
    }
  }
  // Parts are stored one after the other, each the size of all of C.
  let base = (group.z * groups.y + group.y) * params.c_batch;
  let all0 = total(sums0, thread);
  if (VECTORS > 1u) {
    let all1 = total(sums1, thread);
    let all2 = total(sums2, thread);
    let all3 = total(sums3, thread);
    if (thread < LANES) {
      store(first, 1u, all1, base);
      store(first, 2u, all2, base);
      store(first, 3u, all3, base);
    }
  }
  if (thread < LANES) {
    store(first, 0u, all0, base);
  }
}
