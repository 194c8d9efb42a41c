// The gradient of maxima for their input: y[z, i] = the sum of g[z, p, q] over the windows whose
// maximum is at position i of the plane z, in the order of the windows. `indices` has the position
// of each maximum, or -1.
//
// One element of y per thread, which reads the windows that may contain it: 4n bytes written, and
// the windows through the cache.

@group(0) @binding(0) var<storage, read> g: array<f32>;
@group(0) @binding(1) var<storage, read> indices: array<i32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/pooling_params.wgsl

override THREADS: u32 = 256u; // in a workgroup

// The first window that reaches a padded position, and the one after the last.
fn windows(place: u32, reach: u32, stride: u32, count: u32) -> vec2u {
  let before = max(place, reach) - reach;
  return vec2u((before + stride - 1u) / stride, min(place / stride + 1u, count));
}

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = id.y * groups.x * THREADS + id.x;
  if (i >= params.n) {
    return;
  }
  let plane = i / (params.height * params.width);
  let at = i % (params.height * params.width);
  let rows = windows(
    at / params.width + params.pad_h, params.dilation_h * (params.kernel_h - 1u), params.stride_h,
    params.out_h
  );
  let columns = windows(
    at % params.width + params.pad_w, params.dilation_w * (params.kernel_w - 1u), params.stride_w,
    params.out_w
  );
  var sum = 0.0;
  for (var p = rows.x; p < rows.y; p++) {
    for (var q = columns.x; q < columns.y; q++) {
      let window = (plane * params.out_h + p) * params.out_w + q;
      if (indices[window] == i32(at)) {
        sum += g[window];
      }
    }
  }
  y[i] = sum;
}
