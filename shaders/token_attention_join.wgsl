// The attention of tokens from that to parts of the keys, as token_attention.wgsl writes them. A
// workgroup computes one head of a token.

struct Params {
  heads: u32,
  width: u32, // at most THREADS
  parts: u32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>; // [tokens, heads, parts, width + 2]
@group(0) @binding(1) var<storage, read_write> y: array<f32>; // [tokens, heads, width]
@group(1) @binding(0) var<uniform> params: Params;

const THREADS = 256u;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let row = group.y * params.heads + group.x;
  let pitch = params.width + 2u;
  let begin = row * params.parts * pitch;
  let statistics = begin + params.width;
  var largest = x[statistics];
  for (var part = 1u; part < params.parts; part++) {
    largest = max(largest, x[statistics + part * pitch]);
  }
  if (thread < params.width) {
    var sum = 0.0;
    var total = 0.0;
    for (var part = 0u; part < params.parts; part++) {
      let at = begin + part * pitch;
      let shares = x[at + params.width + 1u];
      if (shares != 0.0) { // 0 without keys, and then there is no sum
        let factor = exp(x[at + params.width] - largest);
        total += factor * shares;
        sum += factor * x[at + thread];
      }
    }
    y[row * params.width + thread] = sum / total;
  }
}
