// Products of 64-bit integers, modulo 2^64.

//#include lib/wide/words.wgsl

// The 64-bit product of two words, from products of 16-bit halves.
fn wide_product(a: vec4u, b: vec4u) -> Long {
  let half = vec4u(16u);
  let mask = vec4u(0xffffu);
  let a_low = a & mask;
  let a_high = a >> half;
  let b_low = b & mask;
  let b_high = b >> half;
  let least = a_low * b_low;
  let one = a_high * b_low + (least >> half); // below 2^32
  let other = a_low * b_high + (one & mask); // below 2^32
  return Long((other << half) | (least & mask), a_high * b_high + (one >> half) + (other >> half));
}

fn wide_multiply(a: Long, b: Long) -> Long {
  let found = wide_product(a.low, b.low);
  return Long(found.low, found.high + a.low * b.high + a.high * b.low);
}
