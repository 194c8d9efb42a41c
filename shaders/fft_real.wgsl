// What makes transforms of real rows of n numbers out of complex ones; their spectrum's other half
// is the conjugate of the first n / 2 + 1 numbers. One complex number a thread.
//
// A row of even length is a complex row z of h = n / 2 numbers, as it lies: with w = exp(-2πi / n)
// and Z the transform of z, that of the row is
//   X[k] = (Z[k] + conj Z[h - k]) / 2 - i w^k (Z[k] - conj Z[h - k]) / 2,
// and 2 Z[k] = X[k] + conj X[h - k] + i w^-k (X[k] - conj X[h - k]) leads back.

struct Params {
  n: u32, // real numbers of a row
  rows: u32,
  scale: f32, // main_split multiplies by it
}

@group(0) @binding(0) var<storage, read> x: array<vec2f>;
@group(0) @binding(0) var<storage, read> words: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<vec2f>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/elements.wgsl
//#include lib/turns.wgsl

const THREADS = 256u;

// Which of rows of `length` complex numbers a thread takes: row and column.
fn place(id: vec3u, groups: vec3u, length: u32) -> vec2u {
  let i = index(id, groups);
  return vec2u(i / length, i % length);
}

fn conjugate(v: vec2f) -> vec2f {
  return vec2f(v.x, -v.y);
}

// X[k] of a row, whose first number is real, and the last one too where n is even: what else is
// there does not count.
fn spectrum(row: u32, k: u32) -> vec2f {
  let value = x[row * (params.n / 2u + 1u) + k];
  return select(value, vec2f(value.x, 0.0), k == 0u || 2u * k == params.n);
}

// Even n: X = y of Z = x.
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

// Even n: 2 Z = y of X = x.
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

// Odd n: y = the numbers of real rows, as complex ones.
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
