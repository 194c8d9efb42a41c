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
//#include lib/kept.wgsl

override THREADS: u32 = 256u; // in a workgroup
// 0 add, 1 sub, 2 mul, 3 div, 4 max, 5 min, 6 pow
override OP: u32 = 0u;

fn propagate_nan(p: vec4f, q: vec4f, value: vec4f) -> vec4f {
  return select(select(value, q, are_nan(q)), p, are_nan(p));
}

// The first 12 of 24 bits: the product of two such values is exact.
fn short(v: vec4f) -> vec4f {
  return bitcast<vec4f>(bitcast<vec4u>(v) & vec4u(0xfffff000u));
}

// A number to twice float32's precision, high + low; high has 12 bits.
struct Wide {
  high: vec4f,
  low: vec4f,
}

// log2 v for normal v > 0, after fdlibm's e_powf.c: v = 2^k m with m nearest to c = 1 or 3/2, and
// log2 (m / c) = 2 atanh(s) / ln 2 = s (3 + s² + 3/5 s⁴ + …) 2 / (3 ln 2) for s = (m - c) / (m + c).
fn wide_log2(v: vec4f) -> Wide {
  let fraction = bitcast<vec4u>(v) & vec4u(0x007fffffu);
  let is_low = fraction <= vec4u(0x001cc471u); // below sqrt(3/2)
  let is_high = fraction >= vec4u(0x005db3d7u); // from sqrt(3) on: m is half as large
  let is_middle = !(is_low | is_high);
  let exponent = vec4i(bitcast<vec4u>(v) >> vec4u(23u)) - select(vec4i(127), vec4i(126), is_high);
  let m = bitcast<vec4f>(select(vec4u(0x3f800000u), vec4u(0x3f000000u), is_high) | fraction);
  let c = select(vec4f(1.0), vec4f(1.5), is_middle);
  // s
  let difference = m - c;
  let sum = short(m + c);
  let sum_rest = m - kept(sum - c);
  let reciprocal = 1.0 / (m + c);
  let s = difference * reciprocal;
  let s_high = short(s);
  let s_low = reciprocal * (kept(difference - s_high * sum) - s_high * sum_rest);
  // 3 + s² + …
  let square = s * s;
  let rest = s_low * (s_high + s) + square * square
    * (0.6 + square * (0.42857143 + square * (0.33333334 + square * (0.27272728 + square * 0.23076923))));
  let exact_square = s_high * s_high;
  let series = short(3.0 + exact_square + rest);
  let series_rest = rest - kept(kept(series - 3.0) - exact_square);
  // their product
  let large = s_high * series;
  let small = s_low * series + series_rest * s;
  let product = short(large + small);
  let product_rest = small - kept(product - large);
  // times 2 / (3 ln 2), plus log2 c, plus the exponent
  let scaled = PER_PRODUCT * product;
  let scaled_rest = select(vec4f(), vec4f(LOG2_C_REST), is_middle)
    + (PER_PRODUCT_REST * product + product_rest * 0.9617967);
  let log2_c = select(vec4f(), vec4f(LOG2_C), is_middle);
  let whole = vec4f(exponent);
  let high = short(scaled + scaled_rest + log2_c + whole);
  return Wide(high, scaled_rest - kept(kept(kept(high - whole) - log2_c) - scaled));
}

// 2 / (3 ln 2) and log2 1.5, each as 12 bits and the others.
const PER_PRODUCT = 0.961669921875;
const PER_PRODUCT_REST = 0.00012677205086220056;
const LOG2_C = 0.5849609375;
const LOG2_C_REST = 1.5632211898264359e-06;
const LN_2 = 0.693115234375;
const LN_2_REST = 3.194618329871446e-05;

// 2^(p.high + p.low), which is infinite from 2^128 on and 0 below 2^-126; p.high may be any number.
fn exp2_of(high: vec4f, low: vec4f) -> vec4f {
  let whole = round(clamp(high + low, vec4f(-300.0), vec4f(300.0)));
  let difference = kept(high - whole);
  let part = short(difference + low);
  let part_rest = low - kept(part - difference);
  // e^z for z = part ln 2, |z| < 0.35: 1 + its first 24 bits, exactly, and the others.
  let z_high = part * LN_2;
  let z_low = part_rest * 0.6931472 + part * LN_2_REST;
  let z = z_high + z_low;
  let rest = z * z * (0.5 + z * (0.16666667 + z * (0.041666668 + z * (0.008333334
    + z * (0.0013888889 + z * 0.0001984127)))));
  let top = kept(1.0 + z_high);
  let power = top + (kept(z_high - kept(top - 1.0)) + (z_low + rest));
  // times 2^whole
  let bits = bitcast<vec4i>(power) + (vec4i(whole) << vec4u(23u));
  let exponent = (bitcast<vec4i>(power) >> vec4u(23u)) + vec4i(whole);
  let below = select(bits, vec4i(0), exponent < vec4i(1));
  return bitcast<vec4f>(select(below, vec4i(0x7f800000), exponent > vec4i(254)));
}

// Within 0.9 ULP. The special cases are those of C's pow (C17 F.10.4.4), which NumPy follows, told by
// bits; subnormal numbers are zeros.
fn power(base: vec4f, exponent: vec4f) -> vec4f {
  let magnitude = bitcast<vec4u>(base) & vec4u(0x7fffffffu);
  let size = bitcast<vec4u>(exponent) & vec4u(0x7fffffffu);
  let is_zero = magnitude < vec4u(0x00800000u);
  let is_infinite = magnitude == vec4u(0x7f800000u);
  let is_negative = bitcast<vec4u>(base) >= vec4u(0x80000000u);
  let falls = bitcast<vec4u>(exponent) >= vec4u(0x80000000u);
  let is_large = size >= vec4u(0x4b800000u); // from 2^24 on all numbers are even, or infinite
  // An exponent beyond 2^33 overflows, or underflows, whatever the base is, if it is not 1.
  let bounded = clamp(exponent, vec4f(-8589934592.0), vec4f(8589934592.0));
  let small = select(bounded, vec4f(), is_large);
  let is_whole = is_large | (floor(small) == small);
  let is_odd = is_whole & ((vec4i(small) & vec4i(1)) == vec4i(1));

  let special = is_zero | is_infinite;
  let positive = bitcast<vec4f>(select(magnitude, vec4u(0x3f800000u), special));
  let log2 = wide_log2(positive);
  let short_exponent = short(bounded);
  let low = (bounded - short_exponent) * log2.high + bounded * log2.low;
  var result = bitcast<vec4u>(exp2_of(short_exponent * log2.high, low));

  result = select(result, select(vec4u(), vec4u(0x7f800000u), is_zero == falls), special);
  result |= select(vec4u(), vec4u(0x80000000u), is_negative & is_odd);
  result = select(result, vec4u(0x7fc00000u), is_negative & !special & !is_whole);
  result = select(result, bitcast<vec4u>(exponent), size > vec4u(0x7f800000u));
  result = select(result, bitcast<vec4u>(base), magnitude > vec4u(0x7f800000u));
  let is_one = (size < vec4u(0x00800000u)) | (bitcast<vec4u>(base) == vec4u(0x3f800000u));
  // A base of -1 has a magnitude of 1, whose logarithm is 0: also to an infinite power.
  return bitcast<vec4f>(select(result, vec4u(0x3f800000u), is_one));
}

fn apply(p: vec4f, q: vec4f) -> vec4f {
  switch (OP) {
    case 0u: { return p + q; }
    case 1u: { return p - q; }
    case 2u: { return p * q; }
    case 3u: { return p / q; }
    case 4u: { return propagate_nan(p, q, max(p, q)); }
    case 5u: { return propagate_nan(p, q, min(p, q)); }
    case 6u, default: { return power(p, q); }
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
