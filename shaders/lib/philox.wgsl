// Philox4x32-10 of Salmon et al., https://doi.org/10.1145/2063384.2063405: a key and a counter of
// 128 bits give a block of four words. y's i-th vec4 is made from consecutive blocks, starting at
// the first counter + i × the blocks per vec4. Multi-word numbers have the least significant word
// first.

struct Params {
  n: u32, // elements
  key0: u32,
  key1: u32,
  counter0: u32, // of the first block
  counter1: u32,
  counter2: u32,
  counter3: u32,
  shift: u32, // float32 bits or integers, depending on the kernel
  scale: u32,
  last: u32,
}

@group(0) @binding(0) var<storage, read_write> y: array<vec4u>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/elements.wgsl
//#include lib/philox_rounds.wgsl

override THREADS: u32 = 256u; // in a workgroup

// The block of the first counter + `more`.
fn block(more: u32) -> vec4u {
  var counter = vec4u(params.counter0, params.counter1, params.counter2, params.counter3);
  counter.x += more;
  if (counter.x < more) {
    counter.y += 1u;
    if (counter.y == 0u) {
      counter.z += 1u;
      counter.w += select(0u, 1u, counter.z == 0u);
    }
  }
  return philox(counter, vec2u(params.key0, params.key1));
}

// Writes y's i-th vec4, as far as n goes.
fn store(i: u32, value: vec4u) {
  let left = params.n - 4u * i;
  if (left >= 4u) {
    y[i] = value;
  } else {
    y[i] = words_edge(value, y[i], left, 1u);
  }
}
