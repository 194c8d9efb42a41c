// y[word] = value in the bits of mask, unchanged elsewhere. It writes the last 1 to 3 bytes of an
// upload whose size is not divisible by 4 (WebGPU writes whole words only). One thread.

struct Params {
  word: u32,
  mask: u32,
  value: u32,
}

@group(0) @binding(0) var<storage, read_write> y: array<u32>;
@group(1) @binding(0) var<uniform> params: Params;

@compute @workgroup_size(1)
fn main() {
  let i = params.word;
  y[i] = (y[i] & ~params.mask) | (params.value & params.mask);
}
