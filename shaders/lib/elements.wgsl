// Elementwise kernels with THREADS per workgroup: the vec4 of a thread, and the write of the last
// one of n elements.

fn index(id: vec3u, groups: vec3u) -> u32 {
  return id.y * groups.x * THREADS + id.x;
}

// The words of a vec4 of y: new ones up to n, with `left` remaining elements, `each` per word.
fn words_edge(value: vec4u, previous: vec4u, left: u32, each: u32) -> vec4u {
  let before = min(vec4u(left), each * vec4u(0u, 1u, 2u, 3u));
  let inside = min(vec4u(left) - before, vec4u(each)); // elements per word
  let some = select(vec4u(), vec4u(0xffffu), inside > vec4u());
  let mask = select(some, vec4u(0xffffffffu), inside == vec4u(each));
  return (previous & ~mask) | (value & mask);
}
