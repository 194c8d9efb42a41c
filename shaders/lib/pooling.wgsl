// Pooling of the windows of [planes, height, width]. The including file has the parameters and
// `element`, which reads an element of x.

//#include lib/floats.wgsl

// 0 max, 1 mean_padded (its divisor counts the padding), 2 mean
override OP: u32 = 0u;

struct Found {
  value: f32,
  index: i32, // in its plane
}

fn maximum(i: u32) -> Found {
  let plane = i / (params.out_h * params.out_w) * params.height * params.width;
  let row0 = i / params.out_w % params.out_h * params.stride_h;
  let column0 = i % params.out_w * params.stride_w;
  var best = Found(minus_infinity(), -1);
  for (var r = 0u; r < params.kernel_h; r++) {
    // Unsigned: a position left of or above x wraps to a huge one and fails the test.
    let row = row0 + r * params.dilation_h - params.pad_h;
    if (row >= params.height) {
      continue;
    }
    for (var s = 0u; s < params.kernel_w; s++) {
      let column = column0 + s * params.dilation_w - params.pad_w;
      if (column >= params.width) {
        continue;
      }
      let at = row * params.width + column;
      let value = element(plane + at);
      if (best.index < 0 || (!is_nan(best.value) && (value > best.value || is_nan(value)))) {
        best = Found(value, i32(at));
      }
    }
  }
  return best;
}

fn mean(i: u32) -> f32 {
  let plane = i / (params.out_h * params.out_w) * params.height * params.width;
  let row0 = i / params.out_w % params.out_h * params.stride_h;
  let column0 = i % params.out_w * params.stride_w;
  var sum = 0.0;
  var inside = 0u;
  var padded = 0u; // positions within x and its padding
  for (var r = 0u; r < params.kernel_h; r++) {
    let padded_row = row0 + r * params.dilation_h;
    let row = padded_row - params.pad_h;
    for (var s = 0u; s < params.kernel_w; s++) {
      let padded_column = column0 + s * params.dilation_w;
      let column = padded_column - params.pad_w;
      if (padded_row < params.height + 2u * params.pad_h
        && padded_column < params.width + 2u * params.pad_w) {
        padded += 1u;
      }
      if (row < params.height && column < params.width) {
        sum += element(plane + row * params.width + column);
        inside += 1u;
      }
    }
  }
  let divisor = select(inside, padded, OP == 1u);
  if (divisor == 0u) {
    return quiet_nan();
  }
  return sum / f32(divisor);
}

fn pooled(i: u32) -> f32 {
  if (OP == 0u) {
    return maximum(i).value;
  }
  return mean(i);
}
