// Parameters of convolutions in which each filter sees only one channel.

struct Params {
  n: u32, // threads with results; elements of y in float16; workgroups that write totals
  height: u32,
  width: u32,
  filters: u32, // of one group
  all_filters: u32, // of all groups
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
  added: u32, // as in lib/convolution_end.wgsl; only with AFTER in float32
}
