// Normalized and rotated queries, and writes of keys and values to float32 caches.

@group(0) @binding(5) var<storage, read_write> keys: array<f32>;
@group(0) @binding(6) var<storage, read_write> values: array<f32>;

//#include lib/joined_heads.wgsl

//#include lib/rotary.wgsl

fn store_key(own: u32, place: u32, thread: u32) {
  for (var at = thread; at < params.width; at += THREADS) {
    keys[own * params.width + at] = turned(at, at, place);
  }
}

fn store_value(own: u32, thread: u32) {
  for (var at = thread; at < params.width; at += THREADS) {
    values[own * params.width + at] = element(at);
  }
}

@compute @workgroup_size(HEADS * THREADS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) of_all: u32,
) {
  split(group.y * groups.x + group.x, of_all);
}
