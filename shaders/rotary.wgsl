// Rotary position embeddings, and writes to a cache: y = x rotated by the angles of its position.
// x is [tokens, heads, width], at the positions from position[0] on. Pairs of the first `rotated`
// elements of a head turn by an angle each, of which the table has cosine and sine. y has the shape
// of x, or is a cache [heads, capacity, width] whose entries at these positions are written.

struct Params {
  tokens: u32,
  heads: u32,
  width: u32,
  rotated: u32,
  adjacent: u32, // 1 if pairs are neighbors, 0 if they are rotated / 2 apart
  capacity: u32, // of the cache, 0 if y has the shape of x
  entries: u32,  // positions of the table
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> angles: array<vec2f>; // [entries, rotated / 2]
@group(0) @binding(2) var<storage, read> position: array<i32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

const THREADS = 64u;

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.y * groups.x * THREADS + id.x;
  if (i >= params.tokens * params.heads * params.width) {
    return;
  }
  let at = i % params.width;
  let head = i / params.width % params.heads;
  let place = u32(position[0]) + i / (params.width * params.heads);
  var value = x[i];
  if (at < params.rotated) {
    let half = params.rotated / 2u;
    var pair = at / 2u;
    var is_second = at % 2u == 1u;
    var apart = 1u;
    if (params.adjacent == 0u) {
      pair = at % half;
      is_second = at >= half;
      apart = half;
    }
    let other = x[select(i + apart, i - apart, is_second)];
    let turn = angles[min(place, params.entries - 1u) * half + pair];
    value = value * turn.x + select(-other, other, is_second) * turn.y;
  }
  if (params.capacity == 0u) {
    y[i] = value;
  } else if (place < params.capacity) {
    y[(head * params.capacity + place) * params.width + at] = value;
  }
}
