// y[i] = x[j] for i < n: i is split into up to eight indices, outermost first, and j is their sum
// with strides. It permutes axes (strides in another order) and broadcasts (strides of 0).
//
// One element per thread, read through the cache. Elements are words, or vec4s for main_vectors, if
// innermost indices are neighbours in multiples of 4. The caller merges neighbouring axes, so that
// RANK, the number of indices, is minimal. transpose.wgsl is faster for an exchange of the last two
// axes. Negative strides are modulo 2^32.

struct Params {
  n: u32,
  extent1: u32, // of the second index; the first needs none
  extent2: u32,
  extent3: u32,
  extent4: u32,
  extent5: u32,
  extent6: u32,
  extent7: u32,
  stride0: u32, // elements of x between two first indices
  stride1: u32,
  stride2: u32,
  stride3: u32,
  stride4: u32,
  stride5: u32,
  stride6: u32,
  stride7: u32, // for fewer than eight indices: the position of the first element in x
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(0) var<storage, read> x_vectors: array<vec4u>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(0) @binding(1) var<storage, read_write> y_vectors: array<vec4u>;
@group(1) @binding(0) var<uniform> params: Params;

override RANK: u32 = 8u; // indices in use
override THREADS: u32 = 256u; // in a workgroup

fn source(i: u32) -> u32 {
  var rest = i;
  var at = params.stride7;
  if (RANK > 5u) {
    at *= rest % params.extent7;
    rest /= params.extent7;
    at += rest % params.extent6 * params.stride6;
    rest /= params.extent6;
    at += rest % params.extent5 * params.stride5;
    rest /= params.extent5;
  }
  if (RANK > 3u) {
    at += rest % params.extent4 * params.stride4;
    rest /= params.extent4;
    at += rest % params.extent3 * params.stride3;
    rest /= params.extent3;
  }
  at += rest % params.extent2 * params.stride2;
  rest /= params.extent2;
  at += rest % params.extent1 * params.stride1;
  rest /= params.extent1;
  return at + rest * params.stride0;
}

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.y * groups.x * THREADS + id.x;
  if (i < params.n) {
    y[i] = x[source(i)];
  }
}

@compute @workgroup_size(THREADS)
fn main_vectors(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.y * groups.x * THREADS + id.x;
  if (i < params.n) {
    y_vectors[i] = x_vectors[source(i)];
  }
}
