// Causal attention to a cache of keys and values in float32.

@group(0) @binding(1) var<storage, read> keys: array<vec4f>;
@group(0) @binding(2) var<storage, read> values: array<vec4f>;

//#include lib/cached_attention.wgsl

fn key_quad(row: u32, i: u32) -> vec4f {
  return keys[row * params.quads + i];
}

fn value_quad(row: u32, i: u32) -> vec4f {
  return values[row * params.quads + i];
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  attend(group, thread);
}
