// y[i] = a[j] op b[k] for i < n, of floats of which some are of float16 in memory; a and b are
// broadcast as in broadcast.wgsl. They are computed in float32.
//
// Four elements a thread, so that no two threads write to the same word. Where four neighbours of
// y come from four neighbours or from one element of each operand, these are read at once. A last
// part of y that reaches past n keeps what lies there.
//
// Entry points: main (a, b to y), main_in_place (y, b to y, of the same shape: WebGPU does not let
// one buffer be bound both for reading and for writing).

struct Params {
  n: u32,
  extent1: u32, // of the second index; the first needs none
  extent2: u32,
  extent3: u32,
  extent4: u32,
  a0: u32, // elements of a from one first index to the next
  a1: u32,
  a2: u32,
  a3: u32,
  a4: u32,
  b0: u32,
  b1: u32,
  b2: u32,
  b3: u32,
  b4: u32,
  // Of float16 are 1: a, 2: b, 4: y. 8: four elements at once, 16: which are neighbours in a, 32:
  // in b (else one element of it). 64: in place, y is the second operand. From 256 on: 0 add, 1
  // sub, 2 mul, 3 div.
  kinds: u32,
}

@group(0) @binding(0) var<storage, read> a: array<vec2u>;
@group(0) @binding(1) var<storage, read> b: array<vec2u>;
@group(0) @binding(2) var<storage, read_write> y: array<vec2u>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/broadcast.wgsl
//#include lib/halves.wgsl

override THREADS: u32 = 256u; // in a workgroup

fn has(bit: u32) -> bool {
  return (params.kinds & bit) != 0u;
}

fn apply(p: vec4f, q: vec4f) -> vec4f {
  switch (params.kinds >> 8u) {
    case 0u: { return p + q; }
    case 1u: { return p - q; }
    case 2u: { return p * q; }
    case 3u, default: { return p / q; }
  }
}

fn a_at(i: u32) -> f32 {
  if (has(1u)) {
    return half_of(a[i / 4u][i / 2u % 2u], i);
  }
  return bitcast<f32>(a[i / 2u][i % 2u]);
}

fn b_at(i: u32) -> f32 {
  if (has(2u)) {
    return half_of(b[i / 4u][i / 2u % 2u], i);
  }
  return bitcast<f32>(b[i / 2u][i % 2u]);
}

// Four neighbours, the first of them at a multiple of 4.
fn a_four(i: u32) -> vec4f {
  if (has(1u)) {
    return widened(a[i / 4u]);
  }
  return bitcast<vec4f>(vec4u(a[i / 2u], a[i / 2u + 1u]));
}

fn b_four(i: u32) -> vec4f {
  if (has(2u)) {
    return widened(b[i / 4u]);
  }
  return bitcast<vec4f>(vec4u(b[i / 2u], b[i / 2u + 1u]));
}

// The i-th four elements of y, as far as n goes.
fn store(i: u32, value: vec4f) {
  let left = params.n - 4u * i;
  if (has(4u)) {
    let words = narrowed(value);
    let first = select(0xffffffffu, 0xffffu, left == 1u);
    let second = select(select(0xffffffffu, 0xffffu, left == 3u), 0u, left < 3u);
    let mask = vec2u(first, second);
    if (left >= 4u) {
      y[i] = words;
    } else {
      y[i] = (y[i] & ~mask) | (words & mask);
    }
    return;
  }
  let words = bitcast<vec4u>(value);
  if (left >= 4u) {
    y[2u * i] = words.xy;
    y[2u * i + 1u] = words.zw;
    return;
  }
  y[2u * i].x = words.x;
  if (left > 1u) {
    y[2u * i].y = words.y;
  }
  if (left > 2u) {
    y[2u * i + 1u].x = words.z;
  }
}

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.y * groups.x * THREADS + id.x;
  if (4u * i >= params.n) {
    return;
  }
  var p: vec4f;
  var q: vec4f;
  if (has(8u)) {
    let at = sources(4u * i);
    if (has(16u)) {
      p = a_four(at.x);
    } else {
      p = vec4f(a_at(at.x));
    }
    if (has(32u)) {
      q = b_four(at.y);
    } else {
      q = vec4f(b_at(at.y));
    }
  } else {
    let at0 = sources(4u * i);
    let at1 = sources(4u * i + 1u);
    let at2 = sources(4u * i + 2u);
    let at3 = sources(4u * i + 3u);
    p = vec4f(a_at(at0.x), a_at(at1.x), a_at(at2.x), a_at(at3.x));
    q = vec4f(b_at(at0.y), b_at(at1.y), b_at(at2.y), b_at(at3.y));
  }
  store(i, apply(p, q));
}

@compute @workgroup_size(THREADS)
fn main_in_place(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.y * groups.x * THREADS + id.x;
  if (4u * i >= params.n) {
    return;
  }
  var own: vec4f;
  if (has(4u)) {
    own = widened(y[i]);
  } else {
    own = bitcast<vec4f>(vec4u(y[2u * i], y[2u * i + 1u]));
  }
  let other = b_four(4u * i);
  if (has(64u)) {
    store(i, apply(other, own));
  } else {
    store(i, apply(own, other));
  }
}
