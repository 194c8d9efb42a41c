// The windows that a convolution's filters see, as a matrix: y[n, (c, r, s), (p, q)] = x[n, c, p
// stride + r dilation - padding, …], zeros outside of the image, for halves, two in a word. y's
// rows have `pitch` halves, a multiple of 8; those after the outputs are 0.
//
// A thread writes eight neighbours of a row. Per element of a window, it reads 2 bytes, mostly from
// the cache, and writes 2. Rows have one index over a folded grid; z is n.

struct Params {
  channels: u32,
  height: u32, // of x
  width: u32,
  kernel_h: u32,
  kernel_w: u32,
  out_h: u32,
  out_w: u32,
  stride_h: u32,
  stride_w: u32,
  pad_h: u32,
  pad_w: u32,
  dilation_h: u32,
  dilation_w: u32,
  pitch: u32,
  first_z: u32,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<vec4u>;
@group(1) @binding(0) var<uniform> params: Params;

override THREADS: u32 = 256u;

// The bits of an image's element, 0 outside. Negative coordinates wrap around to the outside.
fn half_at(first: u32, row: u32, column: u32) -> u32 {
  if (row >= params.height || column >= params.width) {
    return 0u;
  }
  let i = first + row * params.width + column;
  return (x[i >> 1u] >> (16u * (i & 1u))) & 0xffffu;
}

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let eights = params.pitch / 8u;
  let area = params.kernel_h * params.kernel_w;
  let which = (group.y * groups.x + group.x) * THREADS + thread;
  if (which >= params.channels * area * eights) {
    return;
  }
  let n = params.first_z + group.z;
  let line = which / eights;
  let channel = line / area;
  let first = (n * params.channels + channel) * params.height * params.width;
  let down = line % area / params.kernel_w * params.dilation_h - params.pad_h;
  let right = line % params.kernel_w * params.dilation_w - params.pad_w;
  let outputs = params.out_h * params.out_w;
  var at = which % eights * 8u;
  var p = at / params.out_w;
  var q = at % params.out_w;
  var words: array<u32, 8>;
  for (var j = 0u; j < 8u; j++) {
    if (at < outputs) {
      words[j] = half_at(first, p * params.stride_h + down, q * params.stride_w + right);
    }
    at++;
    q++;
    if (q == params.out_w) {
      q = 0u;
      p++;
    }
  }
  y[n * params.channels * area * eights + which] = vec4u(
    words[0] | (words[1] << 16u),
    words[2] | (words[3] << 16u),
    words[4] | (words[5] << 16u),
    words[6] | (words[7] << 16u),
  );
}
