// The parameters of pooling, and of the gradient of maxima.

struct Params {
  n: u32, // elements of y
  height: u32,
  width: u32,
  out_h: u32,
  out_w: u32,
  kernel_h: u32,
  kernel_w: u32,
  stride_h: u32,
  stride_w: u32,
  pad_h: u32,
  pad_w: u32,
  dilation_h: u32,
  dilation_w: u32,
}
