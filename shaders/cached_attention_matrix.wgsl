enable f16;
enable subgroups;
enable chromium_experimental_subgroup_matrix;
diagnostic(off, chromium.subgroup_matrix_uniformity);

// Causal attention of many queries of each sequence to a cache of keys and values in float32, by
// subgroup matrices of float16. All three are rounded to float16.

@group(0) @binding(0) var<storage, read> q: array<vec4f>;
@group(0) @binding(1) var<storage, read> k: array<vec4f>;
@group(0) @binding(2) var<storage, read> v: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> o: array<vec4f>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/attention_matrices.wgsl
//#include lib/cached_heads.wgsl

fn q_eight(at: u32) -> vec4u {
  return vec4u(halves(q[2u * at]), halves(q[2u * at + 1u]));
}

fn k_eight(at: u32) -> vec4u {
  return vec4u(halves(k[2u * at]), halves(k[2u * at + 1u]));
}

fn v_eight(at: u32) -> vec4u {
  return vec4u(halves(v[2u * at]), halves(v[2u * at + 1u]));
}

fn write_four(at: u32, x: vec4f) {
  o[at] = x;
}

@compute @workgroup_size(THREADS_USED)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
  @builtin(subgroup_id) subgroup: u32,
  @builtin(subgroup_invocation_id) lane: u32,
) {
  attend(group, groups, thread, subgroup, lane);
}
