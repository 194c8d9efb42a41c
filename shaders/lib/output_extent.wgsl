// The extent of a convolution's result along one axis.
fn extent(size: u32, kernel: u32, stride: u32, pad: u32, dilation: u32) -> u32 {
  return (size + 2u * pad - dilation * (kernel - 1u) - 1u) / stride + 1u;
}
