// Causal attention of many queries of each sequence to a cache of keys and values in float32.

@group(0) @binding(0) var<storage, read> q: array<vec4u>;
@group(0) @binding(1) var<storage, read> k: array<vec4u>;
@group(0) @binding(2) var<storage, read> v: array<vec4u>;
@group(0) @binding(5) var<storage, read_write> o: array<vec2u>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/attention_tiles.wgsl
//#include lib/cached_heads.wgsl

var<workgroup> is_odd: u32; // 1 if a value of the tile is not finite

fn note_odd() {
  is_odd = 1u;
}

fn forget_odd() {
  is_odd = 0u;
}

fn has_odd() -> bool {
  return workgroupUniformLoad(&is_odd) != 0u;
}

@compute @workgroup_size(LANES * QUERIES / ROWS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  attend(group, groups, thread);
}
