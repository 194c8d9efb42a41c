// y[i] = f(a[i], b[i]) for i < n; f is chosen by OP when the pipeline is made.
//
// One vec4 a thread: reads 8n and writes 4n bytes. A last vec4 that reaches past n keeps what lies
// there; only it reads y for that.
// NaN, infinities and the special cases of pow are NumPy's.
//
// Entry points by what y stands for, since WebGPU does not let one buffer be bound both for
// reading and for writing: main (a, b to y), main_in_place_a (y, b to y), main_in_place_b
// (a, y to y), main_in_place_both (y, y to y).

struct Params {
  n: u32, // elements
}

@group(0) @binding(0) var<storage, read> a: array<vec4f>;
@group(0) @binding(1) var<storage, read> b: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4f>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/elements.wgsl
//#include lib/floats.wgsl
//#include lib/math/powers.wgsl

override THREADS: u32 = 256u; // in a workgroup
// 0 add, 1 sub, 2 mul, 3 div, 4 max, 5 min, 6 pow
override OP: u32 = 0u;

fn propagate_nan(p: vec4f, q: vec4f, value: vec4f) -> vec4f {
  return select(select(value, q, are_nan(q)), p, are_nan(p));
}

fn apply(p: vec4f, q: vec4f) -> vec4f {
  switch (OP) {
    case 0u: { return p + q; }
    case 1u: { return p - q; }
    case 2u: { return p * q; }
    case 3u: { return p / q; }
    case 4u: { return propagate_nan(p, q, max(p, q)); }
    case 5u: { return propagate_nan(p, q, min(p, q)); }
    case 6u, default: { return np_pow(p, q); }
  }
}

// What becomes of the vec4 that n ends in: `previous` past n.
fn edge(p: vec4f, q: vec4f, previous: vec4f) -> vec4f {
  return select(previous, apply(p, q), vec4u(0u, 1u, 2u, 3u) < vec4u(params.n % 4u));
}

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = index(id, groups);
  if (i < params.n / 4u) {
    y[i] = apply(a[i], b[i]);
  } else if (4u * i < params.n) {
    y[i] = edge(a[i], b[i], y[i]);
  }
}

@compute @workgroup_size(THREADS)
fn main_in_place_a(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = index(id, groups);
  if (i < params.n / 4u) {
    y[i] = apply(y[i], b[i]);
  } else if (4u * i < params.n) {
    y[i] = edge(y[i], b[i], y[i]);
  }
}

@compute @workgroup_size(THREADS)
fn main_in_place_b(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = index(id, groups);
  if (i < params.n / 4u) {
    y[i] = apply(a[i], y[i]);
  } else if (4u * i < params.n) {
    y[i] = edge(a[i], y[i], y[i]);
  }
}

@compute @workgroup_size(THREADS)
fn main_in_place_both(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = index(id, groups);
  if (i < params.n / 4u) {
    y[i] = apply(y[i], y[i]);
  } else if (4u * i < params.n) {
    y[i] = edge(y[i], y[i], y[i]);
  }
}
