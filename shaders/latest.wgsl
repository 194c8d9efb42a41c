// owners[places[j]] = the largest j + 1, for j < n: which of those that name a place comes last. The
// largest is the same in whatever order they come, so that no device differs.

struct Params {
  n: u32,
}

@group(0) @binding(0) var<storage, read> places: array<u32>;
@group(0) @binding(1) var<storage, read_write> owners: array<atomic<u32>>; // 0 before
@group(1) @binding(0) var<uniform> params: Params;

override THREADS: u32 = 256u; // in a workgroup

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let j = id.y * groups.x * THREADS + id.x;
  if (j >= params.n) {
    return;
  }
  atomicMax(&owners[places[j]], j + 1u);
}
