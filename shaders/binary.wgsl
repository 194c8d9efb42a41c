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

override THREADS: u32 = 256u; // in a workgroup
// 0 add, 1 sub, 2 mul, 3 div, 4 max, 5 min, 6 pow
override OP: u32 = 0u;

// Told by its bits, since WGSL lets an implementation assume that NaN does not occur.
fn is_nan(v: vec4f) -> vec4<bool> {
  return (bitcast<vec4u>(v) & vec4u(0x7fffffffu)) > vec4u(0x7f800000u);
}

fn scalar_is_nan(v: f32) -> bool {
  return (bitcast<u32>(v) & 0x7fffffffu) > 0x7f800000u;
}

fn is_infinite(v: f32) -> bool {
  return (bitcast<u32>(v) & 0x7fffffffu) == 0x7f800000u;
}

fn propagate_nan(p: vec4f, q: vec4f, value: vec4f) -> vec4f {
  return select(select(value, q, is_nan(q)), p, is_nan(p));
}

// base ** n by squaring, for the small whole exponents where exp2(y log2 x) would lose digits.
fn whole_power(base: f32, exponent: u32) -> f32 {
  var result = 1.0;
  var square = base;
  for (var rest = exponent; rest > 0u; rest >>= 1u) {
    if ((rest & 1u) == 1u) {
      result *= square;
    }
    square *= square;
  }
  return result;
}

// The special cases are those of C's pow (C17 F.10.4.4), which NumPy follows.
fn power(base: f32, exponent: f32) -> f32 {
  if (exponent == 0.0 || bitcast<u32>(base) == 0x3f800000u) {
    return 1.0;
  }
  if (scalar_is_nan(base)) {
    return base;
  }
  if (scalar_is_nan(exponent)) {
    return exponent;
  }
  let magnitude = abs(base);
  let negative = (bitcast<u32>(base) >> 31u) == 1u;
  let whole = is_infinite(exponent) || floor(exponent) == exponent;
  let odd = whole && abs(exponent) < 16777216.0 && (i32(exponent) & 1) == 1;
  if (negative && !whole && magnitude > 0.0 && !is_infinite(base)) {
    var nan_bits = 0x7fc00000u;
    return bitcast<f32>(nan_bits);
  }
  var bits = 0x7f800000u; // infinity; a variable, since WGSL refuses it in constant expressions
  let infinity = bitcast<f32>(bits);
  var result = 1.0;
  if (magnitude == 0.0 || is_infinite(base)) {
    result = select(0.0, infinity, (magnitude == 0.0) == (exponent < 0.0));
  } else if (is_infinite(exponent)) {
    if (magnitude != 1.0) {
      result = select(0.0, infinity, (magnitude > 1.0) == (exponent > 0.0));
    }
  } else if (whole && abs(exponent) <= 64.0) {
    result = whole_power(magnitude, u32(abs(exponent)));
    if (exponent < 0.0) {
      result = 1.0 / result;
    }
  } else if (magnitude != 1.0) {
    result = exp2(exponent * log2(magnitude));
  }
  return select(result, -result, negative && odd);
}

fn apply(p: vec4f, q: vec4f) -> vec4f {
  switch (OP) {
    case 0u: { return p + q; }
    case 1u: { return p - q; }
    case 2u: { return p * q; }
    case 3u: { return p / q; }
    case 4u: { return propagate_nan(p, q, max(p, q)); }
    case 5u: { return propagate_nan(p, q, min(p, q)); }
    default: {
      return vec4f(power(p.x, q.x), power(p.y, q.y), power(p.z, q.z), power(p.w, q.w));
    }
  }
}

// What becomes of the vec4 that n ends in: `previous` past n.
fn edge(p: vec4f, q: vec4f, previous: vec4f) -> vec4f {
  return select(previous, apply(p, q), vec4u(0u, 1u, 2u, 3u) < vec4u(params.n % 4u));
}

fn index(id: vec3u, groups: vec3u) -> u32 {
  return id.y * groups.x * THREADS + id.x;
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
