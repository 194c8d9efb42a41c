// Philox4x32-10 of Salmon et al., https://doi.org/10.1145/2063384.2063405.

// The upper word of a product.
fn high(a: u32, b: u32) -> u32 {
  let a0 = a & 0xffffu;
  let a1 = a >> 16u;
  let b0 = b & 0xffffu;
  let b1 = b >> 16u;
  let first = a1 * b0 + ((a0 * b0) >> 16u);
  let second = a0 * b1 + (first & 0xffffu);
  return a1 * b1 + (first >> 16u) + (second >> 16u);
}

// The block of a counter and a key, with the least significant word first.
fn philox(counter: vec4u, key: vec2u) -> vec4u {
  var block = counter;
  var turned = key;
  for (var i = 0u; i < 10u; i++) {
    let p = block.x;
    let q = block.z;
    block = vec4u(
      high(0xcd9e8d57u, q) ^ block.y ^ turned.x, 0xcd9e8d57u * q,
      high(0xd2511f53u, p) ^ block.w ^ turned.y, 0xd2511f53u * p);
    turned += vec2u(0x9e3779b9u, 0xbb67ae85u);
  }
  return block;
}
