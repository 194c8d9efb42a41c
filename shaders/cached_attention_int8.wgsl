// Causal attention to a cache of keys and values in 8 bits, which cache_int8.wgsl writes. A row has
// its integers, four in a word, and then a float32 for each 32 of them, with which they multiply.

@group(0) @binding(1) var<storage, read> keys: array<u32>;
@group(0) @binding(2) var<storage, read> values: array<u32>;

//#include lib/cached_attention.wgsl

fn words() -> u32 {
  return params.quads + (params.quads + 7u) / 8u;
}

fn key_quad(row: u32, i: u32) -> vec4f {
  let begin = row * words();
  return bitcast<f32>(keys[begin + params.quads + i / 8u]) * vec4f(unpack4xI8(keys[begin + i]));
}

fn value_quad(row: u32, i: u32) -> vec4f {
  let begin = row * words();
  return bitcast<f32>(values[begin + params.quads + i / 8u]) * vec4f(unpack4xI8(values[begin + i]));
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  attend(group, thread);
}
