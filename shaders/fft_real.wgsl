// Conversion between transforms of real rows of n numbers and complex ones. The second half of
// their spectrum is the conjugate of the first n / 2 + 1 numbers. One complex number per thread.
//
// A row of even length, read as it is, is a complex row z of h = n / 2 numbers. With w = exp(-2πi /
// n) and Z the transform of z, the row's transform is X[k] = (Z[k] + conj Z[h - k]) / 2 - i w^k
// (Z[k] - conj Z[h - k]) / 2. Backwards, 2 Z[k] = X[k] + conj X[h - k] + i w^-k (X[k] - conj X[h -
// k]).

struct Params {
  n: u32, // real numbers per row
  rows: u32,
  scale: f32, // factor in main_split
}

@group(0) @binding(0) var<storage, read> x: array<vec2f>;
@group(0) @binding(0) var<storage, read> words: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<vec2f>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/elements.wgsl
//#include lib/turns.wgsl

const THREADS = 256u;

// A thread's row and column among rows of `length` complex numbers.
fn place(id: vec3u, groups: vec3u, length: u32) -> vec2u {
  let i = index(id, groups);
  return vec2u(i / length, i % length);
}

fn conjugate(v: vec2f) -> vec2f {
  return vec2f(v.x, -v.y);
}

// X[k] of a row. Its first number is real, and the last one if n is even, so their imaginary parts
// are ignored.
fn spectrum(row: u32, k: u32) -> vec2f {
  let value = x[row * (params.n / 2u + 1u) + k];
  return select(value, vec2f(value.x, 0.0), k == 0u || 2u * k == params.n);
}

// Even n: Z = x becomes X = y.
@compute @workgroup_size(THREADS)
fn main_split(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let h = params.n / 2u;
  let at = place(id, groups, h + 1u);
  if (at.x < params.rows) {
    let one = x[at.x * h + at.y % h];
    let other = conjugate(x[at.x * h + (h - at.y) % h]);
    let odd = times(turn(at.y, params.n, -1.0), one - other);
    let both = one + other + vec2f(odd.y, -odd.x);
    y[at.x * (h + 1u) + at.y] = 0.5 * params.scale * both;
  }
}

// Even n: X = x becomes 2 Z = y.
@compute @workgroup_size(THREADS)
fn main_merge(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let h = params.n / 2u;
  let at = place(id, groups, h);
  if (at.x < params.rows) {
    let one = spectrum(at.x, at.y);
    let other = conjugate(spectrum(at.x, h - at.y));
    let odd = times(turn(at.y, params.n, 1.0), one - other);
    y[at.x * h + at.y] = one + other + vec2f(-odd.y, odd.x);
  }
}

// Odd n: y = the numbers of real rows as complex numbers.
@compute @workgroup_size(THREADS)
fn main_widen(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let at = place(id, groups, params.n);
  if (at.x < params.rows) {
    let i = at.x * params.n + at.y;
    y[i] = vec2f(words[i], 0.0);
  }
}

// Odd n: y = both halves of the spectrum.
@compute @workgroup_size(THREADS)
fn main_mirror(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let at = place(id, groups, params.n);
  if (at.x < params.rows) {
    let i = at.x * params.n + at.y;
    if (at.y <= params.n / 2u) {
      y[i] = spectrum(at.x, at.y);
    } else {
      y[i] = conjugate(spectrum(at.x, params.n - at.y));
    }
  }
}
