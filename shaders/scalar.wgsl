// y[i] = x[i] op s or s op x[i] for i < n, where s is one number; op is a parameter.
//
// Words a vec4 a thread: reads 4n and writes 4n bytes. Where x or y is of float16, two in a word,
// a thread takes eight elements; they are computed in float32. A last vec4 that reaches past n
// keeps what lies there. Whole numbers are computed modulo 2^32, which has the same bits for i32
// and u32.
//
// Entry points: main (x to y), main_in_place (y to y: WebGPU does not let one buffer be bound
// both for reading and for writing).

struct Params {
  n: u32, // elements
  // Floats: 0 x + s, 1 x - s, 2 x s, 3 x / s, 4 s - x, 5 s / x; whole numbers: 6 x + s, 7 x - s,
  // 8 x s, 9 s - x
  op: u32,
  halves: u32, // 1: x is of float16, 2: y
  number: u32, // the bits of s, which is a float32 or a whole number
}

@group(0) @binding(0) var<storage, read> x: array<vec4u>;
@group(0) @binding(1) var<storage, read_write> y: array<vec4u>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/elements.wgsl
//#include lib/halves.wgsl

override THREADS: u32 = 256u; // in a workgroup

fn apply(v: vec4u) -> vec4u {
  let p = bitcast<vec4f>(v);
  let s = vec4u(params.number);
  let q = bitcast<vec4f>(s);
  switch (params.op) {
    case 0u: { return bitcast<vec4u>(p + q); }
    case 1u: { return bitcast<vec4u>(p - q); }
    case 2u: { return bitcast<vec4u>(p * q); }
    case 3u: { return bitcast<vec4u>(p / q); }
    case 4u: { return bitcast<vec4u>(q - p); }
    case 5u: { return bitcast<vec4u>(q / p); }
    case 6u: { return v + s; }
    case 7u: { return v - s; }
    case 8u: { return v * s; }
    case 9u, default: { return s - v; }
  }
}

// The bits of four floats, from halves.
fn wide(halves: vec2u) -> vec4u {
  return bitcast<vec4u>(widened(halves));
}

fn store_words(i: u32, value: vec4u) {
  let left = params.n - 4u * i;
  if (left >= 4u) {
    y[i] = value;
  } else {
    y[i] = words_edge(value, y[i], left, 1u);
  }
}

fn store_eight(i: u32, first: vec4u, second: vec4u) {
  let left = params.n - 8u * i;
  if ((params.halves & 2u) != 0u) {
    let value = vec4u(narrowed(bitcast<vec4f>(first)), narrowed(bitcast<vec4f>(second)));
    if (left >= 8u) {
      y[i] = value;
    } else {
      y[i] = words_edge(value, y[i], left, 2u);
    }
    return;
  }
  store_words(2u * i, first);
  if (left > 4u) {
    store_words(2u * i + 1u, second);
  }
}

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = index(id, groups);
  if (params.halves == 0u) {
    if (4u * i < params.n) {
      store_words(i, apply(x[i]));
    }
  } else if (8u * i < params.n) {
    if ((params.halves & 1u) != 0u) {
      let eight = x[i];
      store_eight(i, apply(wide(eight.xy)), apply(wide(eight.zw)));
    } else {
      store_eight(i, apply(x[2u * i]), apply(x[2u * i + 1u]));
    }
  }
}

@compute @workgroup_size(THREADS)
fn main_in_place(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = index(id, groups);
  if (params.halves == 0u) {
    if (4u * i < params.n) {
      store_words(i, apply(y[i]));
    }
  } else if (8u * i < params.n) {
    let eight = y[i];
    store_eight(i, apply(wide(eight.xy)), apply(wide(eight.zw)));
  }
}
