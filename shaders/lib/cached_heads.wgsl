// Heads of queries and of a cache of keys and values, as cached_attention.wgsl describes them, for
// attention_tiles.wgsl and attention_matrices.wgsl. z is sequence × heads + head.

struct Params {
  heads: u32,
  kv_heads: u32,
  capacity: u32,
  each: u32,     // queries of a sequence
  window: u32,   // number of keys that a query attends to, up to its own; 0 for all
  first_z: u32,
  scale: f32,
  softcap: f32,  // scores become softcap tanh(score / softcap), 0 for no change
}

@group(0) @binding(3) var<storage, read> position: array<i32>;
@group(0) @binding(4) var<storage, read> slots: array<i32>;

// Where a head is: the first vectors of ELEMENTS of its queries, keys, values and output.
struct Head {
  q: u32,
  k: u32,
  v: u32,
  o: u32,
  keys: u32,   // number of keys
  before: u32, // if keys are masked, query i sees key before + i and earlier ones
}

// Whether keys that a query does not see may have values that are not finite
const SEPARATES = true;

fn head_of(z: u32) -> Head {
  let sequence = z / params.heads;
  let within = z % params.heads;
  let room = u32(slots[sequence]) * params.kv_heads + within / (params.heads / params.kv_heads);
  let kv = room * params.capacity * STEPS;
  let first = sequence * params.each * q_pitch() + within * STEPS;
  let before = u32(position[sequence]);
  return Head(first, kv, kv, first, min(before + params.each, params.capacity), before);
}

fn queries() -> u32 {
  return params.each;
}

fn q_pitch() -> u32 {
  return params.heads * STEPS;
}

fn kv_pitch() -> u32 {
  return STEPS;
}

fn is_causal() -> bool {
  return true;
}

fn is_windowed() -> bool {
  return params.window > 0u;
}

fn first_seen(end: u32) -> u32 {
  return select(0u, end - params.window, params.window > 0u && end > params.window);
}

fn is_hidden(key: vec4u, end: u32) -> vec4<bool> {
  return (key >= vec4u(end)) | (key < vec4u(first_seen(end)));
}

// Changes scores, which are multiplied by the scale later.
fn capped(scores_of: vec4f) -> vec4f {
  if (params.softcap > 0.0) {
    let by = params.softcap / params.scale;
    return by * tanh(scores_of / by);
  }
  return scores_of;
}
