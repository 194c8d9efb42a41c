// Parts of a transform of any length n as a convolution (L. Bluestein,
// https://doi.org/10.1109/TAU.1970.1162132).
//
// Since jk = (j² + k² - (k - j)²) / 2, with the chirp c[j] = exp(sign πi j² / n): Σ x[j] exp(sign
// 2πi jk / n) = c[k] Σ x[j] c[j] conj c[k - j]. Rows are padded to at least 2n - 1, a length with a
// fast transform, and convolved. The lines of n are along the middle axis of [outer, n, inner]
// complex numbers. One complex number per thread.

struct Params {
  n: u32,
  inner: u32,
  padded: u32, // complex numbers of a padded row
  rows: u32, // number of padded rows
  first: u32, // index of the first row among all lines
  sign: f32,
  scale: f32, // factor in main_unpad
}

@group(0) @binding(0) var<storage, read> x: array<vec2f>;
@group(0) @binding(1) var<storage, read_write> y: array<vec2f>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/elements.wgsl
//#include lib/turns.wgsl

const THREADS = 256u;

// j² % m for j < m < 2^29, three bits of j at a time if a word cannot hold the square. Longer rows,
// padded, would not fit any buffer.
fn square_modulo(j: u32, m: u32) -> u32 {
  if (j < 65536u) {
    return j * j % m;
  }
  var rest = 0u;
  for (var shift = 30u; shift > 0u;) {
    shift -= 3u;
    rest = (rest * 8u % m + j * ((j >> shift) & 7u) % m) % m;
  }
  return rest;
}

fn chirp(j: u32, sign: f32) -> vec2f {
  return turn(square_modulo(j, 2u * params.n), 2u * params.n, sign);
}

// Position of the j-th number of a row in the array.
fn place(row: u32, j: u32) -> u32 {
  let line = params.first + row;
  return (line / params.inner * params.n + j) * params.inner + line % params.inner;
}

// y[i] = conj c[±i], for the one row with which the others are convolved.
@compute @workgroup_size(THREADS)
fn main_chirp(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = index(id, groups);
  if (i < params.padded) {
    let j = min(i, params.padded - i);
    if (j < params.n) {
      y[i] = chirp(j, -params.sign);
    } else {
      y[i] = vec2f();
    }
  }
}

// y = x c, padded with zeros.
@compute @workgroup_size(THREADS)
fn main_pad(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = index(id, groups);
  if (i < params.rows * params.padded) {
    let j = i % params.padded;
    var value = vec2f();
    if (j < params.n) {
      value = times(x[place(i / params.padded, j)], chirp(j, params.sign));
    }
    y[i] = value;
  }
}

// y = x y, where x is one row.
@compute @workgroup_size(THREADS)
fn main_multiply(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = index(id, groups);
  if (i < params.rows * params.padded) {
    y[i] = times(y[i], x[i % params.padded]);
  }
}

// y = scale x c, of padded rows.
@compute @workgroup_size(THREADS)
fn main_unpad(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = index(id, groups);
  if (i < params.rows * params.n) {
    let k = i % params.n;
    let value = times(x[i / params.n * params.padded + k], chirp(k, params.sign));
    y[place(i / params.n, k)] = params.scale * value;
  }
}
