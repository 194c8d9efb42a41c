// conv2d_depthwise.wgsl for float16 x, w, residual and y, two halves in a word. bias and scale are
// float32, as are the sums. A thread computes two neighbouring elements of y, which is contiguous.

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read> w: array<u32>;
@group(0) @binding(2) var<storage, read> bias: array<f32>;
@group(0) @binding(3) var<storage, read> scale: array<f32>;
@group(0) @binding(4) var<storage, read> residual: array<u32>;
@group(0) @binding(5) var<storage, read_write> y: array<u32>;
@group(1) @binding(0) var<uniform> params: Params;

//#include lib/convolution_end.wgsl
//#include lib/depthwise_params.wgsl
//#include lib/halves.wgsl

const THREADS = 64u;

struct Place {
  x_base: u32,
  w_base: u32,
  row: u32, // of the first element of the window
  column: u32,
  filter_index: u32,
}

fn place_of(i: u32) -> Place {
  let plane = i / params.out_w / params.out_h; // image × filters + filter
  let filter_index = plane % params.all_filters;
  return Place(
    plane / params.filters * params.height * params.width,
    filter_index * params.kernel_h * params.kernel_w,
    i / params.out_w % params.out_h * params.stride_h - params.pad_h,
    i % params.out_w * params.stride_w - params.pad_w,
    filter_index,
  );
}

fn term(place: Place, r: u32, s: u32) -> f32 {
  let row = place.row + r * params.dilation_h;
  let column = place.column + s * params.dilation_w;
  // Positions left of or above x are huge, because unsigned numbers wrap.
  if (row >= params.height || column >= params.width) {
    return 0.0;
  }
  let at = place.x_base + row * params.width + column;
  let weight = place.w_base + r * params.kernel_w + s;
  return half_of(w[weight >> 1u], weight) * half_of(x[at >> 1u], at);
}

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let i = 2u * ((workgroup.y * workgroups.x + workgroup.x) * THREADS + thread);
  if (i >= params.n) {
    return;
  }
  let last = min(i + 1u, params.n - 1u); // computed twice if n is odd
  let places = array(place_of(i), place_of(last));
  var sums = vec2f();
  for (var r = 0u; r < params.kernel_h; r++) {
    for (var s = 0u; s < params.kernel_w; s++) {
      sums += vec2f(term(places[0], r, s), term(places[1], r, s));
    }
  }
  let first = ended(sums.x, places[0].filter_index, i);
  let second = select(ended(sums.y, places[1].filter_index, last), 0.0, last == i);
  y[i >> 1u] = narrowed(vec4f(first, second, 0.0, 0.0)).x;
}
