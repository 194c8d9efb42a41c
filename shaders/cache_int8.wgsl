// Writes of rotated keys or values to a cache in 8 bits. A row of the cache [slots, heads, capacity]
// has the integers of a head, four in a word, and then a float32 for each 32 of them, with which
// they multiply. A thread writes 32 integers and their factor. The factor is the largest size / 127.

//#include lib/cache_int8.wgsl

//#include lib/rotary.wgsl

//#include lib/rotary_of_heads.wgsl

@group(0) @binding(4) var<storage, read_write> y: array<u32>;

const THREADS = 64u;

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.y * groups.x * THREADS + id.x;
  let blocks = (params.width + BLOCK - 1u) / BLOCK;
  if (i >= params.tokens * params.heads * blocks) {
    return;
  }
  let block = i % blocks;
  let head = i / blocks % params.heads;
  let token = i / (blocks * params.heads);
  let place = place_of(token);
  if (place >= params.capacity) {
    return;
  }
  let start = (token * params.heads + head) * params.width;
  let begin = block * BLOCK;
  let end = min(begin + BLOCK, params.width);
  var largest = 0.0;
  for (var at = begin; at < end; at++) {
    largest = max(largest, abs(turned(start + at, at, place)));
  }
  let inverse = inverse_of(largest);
  let quads = params.width / 4u;
  let row = row_of(token, head, params.heads, place) * (quads + blocks);
  for (var at = begin; at < end; at += 4u) {
    var four: vec4f;
    for (var n = 0u; n < 4u; n++) {
      four[n] = turned(start + at + n, at + n, place);
    }
    y[row + at / 4u] = packed(four, inverse);
  }
  y[row + quads + block] = bitcast<u32>(largest / 127.0);
}
