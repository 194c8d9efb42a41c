// Heads of contiguous arrays, as attention.wgsl describes them, for attention_tiles.wgsl and
// attention_matrices.wgsl.

struct Params {
  seq_q: u32,
  seq_kv: u32,
  head_dim: u32,
  heads: u32,
  q_row: u32,
  kv_row: u32,
  k_first: u32,
  v_first: u32,
  first_z: u32,
  causal: u32,
  scale: f32,
}

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
const SEPARATES = false;

fn head_of(z: u32) -> Head {
  let outer = z / params.heads;
  let within = z % params.heads * STEPS;
  let kv = outer * params.seq_kv * kv_pitch() + within;
  return Head(
    outer * params.seq_q * q_pitch() + within, params.k_first / ELEMENTS + kv, params.v_first / ELEMENTS + kv,
    outer * params.seq_q * params.heads * STEPS + within, params.seq_kv, 0u
  );
}

fn queries() -> u32 {
  return params.seq_q;
}

fn q_pitch() -> u32 {
  return params.q_row / ELEMENTS;
}

fn kv_pitch() -> u32 {
  return params.kv_row / ELEMENTS;
}

fn is_causal() -> bool {
  return params.causal != 0u;
}

fn is_windowed() -> bool {
  return false;
}

fn first_seen(end: u32) -> u32 {
  return 0u;
}

fn is_hidden(key: vec4u, end: u32) -> vec4<bool> {
  return key >= vec4u(end);
}

fn capped(scores_of: vec4f) -> vec4f {
  return scores_of;
}
