// y[i] = x[i] in another element type, for i < n. Four elements per thread.
//
// In memory f32, i32, u32 and bool (0 or 1) take a word, f16 half a word, u8 a quarter. Floats are
// truncated to integers and clamped to the integer's range; NaN becomes 0. Integers beyond 2^24
// become the nearest float. Integers become other integers by their lowest bits. Everything but 0
// is true. unorm8 are the bytes of images: 0..255 represents 0..1, rounded to the nearest. Elements
// past n keep their value.

struct Params {
  n: u32,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/halves.wgsl
//#include lib/nearest_float.wgsl

override THREADS: u32 = 256u; // in a workgroup
// 0 f32, 1 f16, 2 i32, 3 u32, 4 bool, 5 u8, 6 unorm8
override FROM: u32 = 0u;
override TO: u32 = 1u;

fn load_words(i: u32) -> vec4u {
  return vec4u(x[4u * i], x[4u * i + 1u], x[4u * i + 2u], x[4u * i + 3u]);
}

fn load_bytes(i: u32) -> vec4u {
  return (vec4u(x[i]) >> vec4u(0u, 8u, 16u, 24u)) & vec4u(0xffu);
}

fn load_float(i: u32) -> vec4f {
  switch (FROM) {
    case 0u: { return bitcast<vec4f>(load_words(i)); }
    case 1u: { return widened(vec2u(x[2u * i], x[2u * i + 1u])); }
    case 2u: { return vec4f(bitcast<vec4i>(load_words(i))); }
    case 5u: { return vec4f(load_bytes(i)); }
    case 6u: { return unpack4x8unorm(x[i]); }
    case 3u, 4u, default: { return nearest_float(load_words(i)); }
  }
}

// Integers do not go through f32, which would round those beyond 2^24.
fn load_integer(i: u32) -> vec4u {
  switch (FROM) {
    case 2u, 3u, 4u: { return load_words(i); }
    case 5u: { return load_bytes(i); }
    default: { return vec4u(); }
  }
}

fn from_integer() -> bool {
  return FROM >= 2u && FROM <= 5u;
}

fn to_i32(i: u32) -> vec4u {
  if (from_integer()) {
    return load_integer(i);
  }
  let v = load_float(i);
  // 2147483520 is the largest f32 below 2^31. Larger ones do not fit i32.
  let inside = vec4i(clamp(v, vec4f(-2147483648.0), vec4f(2147483520.0)));
  let ranged = select(inside, vec4i(2147483647), v >= vec4f(2147483648.0));
  return bitcast<vec4u>(select(ranged, vec4i(0), are_nan(v)));
}

fn to_u32(i: u32) -> vec4u {
  if (from_integer()) {
    return load_integer(i);
  }
  let v = load_float(i);
  let inside = vec4u(clamp(v, vec4f(0.0), vec4f(4294967040.0)));
  let ranged = select(inside, vec4u(0xffffffffu), v >= vec4f(4294967296.0));
  return select(ranged, vec4u(0u), are_nan(v));
}

fn to_byte(i: u32) -> vec4u {
  if (from_integer()) {
    return load_integer(i) & vec4u(0xffu);
  }
  let v = load_float(i);
  return select(vec4u(clamp(v, vec4f(0.0), vec4f(255.0))), vec4u(0u), are_nan(v));
}

fn to_bool(i: u32) -> vec4u {
  if (from_integer()) {
    return select(vec4u(0u), vec4u(1u), load_integer(i) != vec4u(0u));
  }
  let bits = bitcast<vec4u>(load_float(i)) & vec4u(0x7fffffffu);
  return select(vec4u(0u), vec4u(1u), bits != vec4u(0u));
}

fn store_words(i: u32, value: vec4u) {
  for (var j = 0u; j < 4u; j++) {
    if (4u * i + j < params.n) {
      y[4u * i + j] = value[j];
    }
  }
}

// Two halves per word. If n ends within a word, its other half stays.
fn store_halves(i: u32, bits: vec4u) {
  for (var j = 0u; j < 2u; j++) {
    let at = 4u * i + 2u * j;
    if (at + 1u < params.n) {
      y[2u * i + j] = bits[2u * j] | (bits[2u * j + 1u] << 16u);
    } else if (at < params.n) {
      y[2u * i + j] = (y[2u * i + j] & 0xffff0000u) | bits[2u * j];
    }
  }
}

fn packed(b: vec4u) -> u32 {
  return b.x | (b.y << 8u) | (b.z << 16u) | (b.w << 24u);
}

fn to_unorm(i: u32) -> u32 {
  let v = load_float(i);
  return pack4x8unorm(select(v, vec4f(0.0), are_nan(v)));
}

fn store_bytes(i: u32, bytes: u32) {
  let count = min(params.n - 4u * i, 4u);
  if (count == 4u) {
    y[i] = bytes;
  } else {
    let mask = (1u << (8u * count)) - 1u;
    y[i] = (y[i] & ~mask) | (bytes & mask);
  }
}

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.y * groups.x * THREADS + id.x;
  if (4u * i >= params.n) {
    return;
  }
  switch (TO) {
    case 0u: { store_words(i, bitcast<vec4u>(load_float(i))); }
    case 1u: { store_halves(i, exact_half_bits(load_float(i))); }
    case 2u: { store_words(i, to_i32(i)); }
    case 3u: { store_words(i, to_u32(i)); }
    case 4u: { store_words(i, to_bool(i)); }
    case 5u: { store_bytes(i, packed(to_byte(i))); }
    case 6u, default: { store_bytes(i, to_unorm(i)); }
  }
}
