// y[i] for i < n: random words, or uniform numbers within bounds. One vec4 per thread. Everything
// but the sum with the bounds is exact integer arithmetic, the same on every device.
// tensors/philox.py computes the same on the host.

//#include lib/kept.wgsl
//#include lib/philox.wgsl

// 0 words, 1 uniform, 2 integers
override OP: u32 = 0u;

// min(shift + scale × u, last). `last` is below the upper bound, which rounding may reach. u is a
// multiple of 2^-24 in [0, 1). The product is not contracted with the sum.
fn uniform_floats(i: u32) -> vec4u {
  let u = vec4f(block(i) >> vec4u(8u)) * 0x1p-24f;
  let value = bitcast<f32>(params.shift) + kept(bitcast<f32>(params.scale) * u);
  return bitcast<vec4u>(min(value, vec4f(bitcast<f32>(params.last))));
}

// shift + the upper part of 64 bits × scale, where 0 means a scale of 2^32: D. Lemire,
// https://doi.org/10.1145/3230636. A number's probability is off by less than 2^-64.
fn integer(upper: u32, lower: u32) -> u32 {
  if (params.scale == 0u) {
    return params.shift + upper;
  }
  let middle = upper * params.scale;
  let sum = middle + high(lower, params.scale);
  return params.shift + high(upper, params.scale) + select(0u, 1u, sum < middle);
}

fn integers(i: u32) -> vec4u {
  let first = block(2u * i);
  let second = block(2u * i + 1u);
  return vec4u(
    integer(first.x, first.y), integer(first.z, first.w),
    integer(second.x, second.y), integer(second.z, second.w));
}

fn values(i: u32) -> vec4u {
  switch (OP) {
    case 0u: { return block(i); }
    case 1u: { return uniform_floats(i); }
    case 2u, default: { return integers(i); }
  }
}

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = index(id, groups);
  if (4u * i < params.n) {
    store(i, values(i));
  }
}
