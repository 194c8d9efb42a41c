// o = softmax(scale q kᵀ) v for each z = batch × heads + head, with an optional causal mask (key >
// query is masked out), for a HEAD_DIM of 32, 64 or 128. attention.wgsl describes rows and the
// layout of q, k, v and o. Floats are float32, or float16 with HALVES. Cost: 4 z seq_q seq_kv
// head_dim operations, half as many if causal.

@group(0) @binding(0) var<storage, read> q: array<vec4u>;
@group(0) @binding(1) var<storage, read> k: array<vec4u>;
@group(0) @binding(2) var<storage, read> v: array<vec4u>;
@group(0) @binding(3) var<storage, read_write> o: array<vec2u>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/attention_heads.wgsl
//#include lib/attention_tiles.wgsl

// The kernel treats all values alike. A variable for it would exceed 32 KiB of workgroup memory.
fn note_odd() {}

fn forget_odd() {}

fn has_odd() -> bool {
  return false;
}

@compute @workgroup_size(LANES * QUERIES / ROWS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  attend(group, groups, thread);
}
