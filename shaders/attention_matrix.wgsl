enable f16;
enable subgroups;
enable chromium_experimental_subgroup_matrix;
diagnostic(off, chromium.subgroup_matrix_uniformity);

// Attention of float16 with subgroup matrices, for a HEAD_DIM of 32, 64 or 128. attention.wgsl
// describes the computation and the layout of q, k, v and o. Cost: 4 z seq_q seq_kv head_dim
// operations, half as many if causal.

@group(0) @binding(0) var<storage, read> q: array<vec4u>;
@group(0) @binding(1) var<storage, read> k: array<vec4u>;
@group(0) @binding(2) var<storage, read> v: array<vec4u>;
@group(0) @binding(3) var<storage, read_write> o: array<vec2u>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/attention_heads.wgsl
//#include lib/attention_matrices.wgsl

fn q_eight(at: u32) -> vec4u {
  return q[at];
}

fn k_eight(at: u32) -> vec4u {
  return k[at];
}

fn v_eight(at: u32) -> vec4u {
  return v[at];
}

fn write_four(at: u32, x: vec4f) {
  o[at] = halves(x);
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
