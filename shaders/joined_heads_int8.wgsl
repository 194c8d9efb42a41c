// Normalized and rotated queries, and writes of keys and values to caches in 8 bits, whose rows
// cache_int8.wgsl describes. A thread writes 32 integers and their factor.

@group(0) @binding(5) var<storage, read_write> keys: array<u32>;
@group(0) @binding(6) var<storage, read_write> values: array<u32>;

//#include lib/cache_int8.wgsl

//#include lib/joined_heads.wgsl

//#include lib/rotary.wgsl

// A number of a key that is rotated, or of a value that is not.
fn number(at: u32, place: u32, is_key: bool) -> f32 {
  if (is_key) {
    return turned(at, at, place);
  }
  return element(at);
}

fn store(own: u32, place: u32, block: u32, is_key: bool) {
  let begin = block * BLOCK;
  let end = min(begin + BLOCK, params.width);
  var largest = 0.0;
  for (var at = begin; at < end; at++) {
    largest = max(largest, abs(number(at, place, is_key)));
  }
  let inverse = inverse_of(largest);
  let quads = params.width / 4u;
  let start = own * (quads + (params.width + BLOCK - 1u) / BLOCK);
  for (var at = begin; at < end; at += 4u) {
    let word = packed(
      vec4f(
        number(at, place, is_key), number(at + 1u, place, is_key), number(at + 2u, place, is_key),
        number(at + 3u, place, is_key)
      ),
      inverse
    );
    if (is_key) {
      keys[start + at / 4u] = word;
    } else {
      values[start + at / 4u] = word;
    }
  }
  let factor = bitcast<u32>(largest / 127.0);
  if (is_key) {
    keys[start + quads + block] = factor;
  } else {
    values[start + quads + block] = factor;
  }
}

fn store_key(own: u32, place: u32, thread: u32) {
  if (thread * BLOCK < params.width) {
    store(own, place, thread, true);
  }
}

fn store_value(own: u32, thread: u32) {
  if (thread * BLOCK < params.width) {
    store(own, 0u, thread, false);
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
