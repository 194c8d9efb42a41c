// Rotary position embeddings, and writes to a float32 cache: y = x rotated by the angles of its
// position. y has the shape of x, or is a cache [slots, heads, capacity, width]. The entries at these
// positions are written, unless they are beyond the capacity.

//#include lib/rotary.wgsl

//#include lib/rotary_of_heads.wgsl

@group(0) @binding(4) var<storage, read_write> y: array<f32>;

const THREADS = 64u;

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.y * groups.x * THREADS + id.x;
  if (i >= params.tokens * params.heads * params.width) {
    return;
  }
  let at = i % params.width;
  let head = i / params.width % params.heads;
  let token = i / (params.width * params.heads);
  let place = place_of(token);
  let value = turned(i, at, place);
  if (params.capacity == 0u) {
    y[i] = value;
  } else if (place < params.capacity) {
    y[row_of(token, head, params.heads, place) * params.width + at] = value;
  }
}
