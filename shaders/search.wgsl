// y[i] = how many of the n sorted elements come before values[i], for i < m. With `right`, equal
// elements count too. By bisection, one value per thread. NaN are equal and come last.

struct Params {
  n: u32,
  m: u32,
  right: u32, // 0 or 1
}

@group(0) @binding(0) var<storage, read> ordered: array<u32>;
@group(0) @binding(1) var<storage, read> values: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/order.wgsl

override THREADS: u32 = 256u; // in a workgroup

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.y * groups.x * THREADS + id.x;
  if (i >= params.m) {
    return;
  }
  let key = order_of(values[i]);
  var low = 0u;
  var high = params.n;
  while (low < high) {
    let middle = low + (high - low) / 2u;
    let other = order_of(ordered[middle]);
    if (other < key || (other == key && params.right != 0u)) {
      low = middle + 1u;
    } else {
      high = middle;
    }
  }
  y[i] = low;
}
