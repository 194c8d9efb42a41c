// Logarithms with more digits than float32.

//#include lib/kept.wgsl
//#include lib/math/wide.wgsl

// A number with twice float32's precision, high + low; high has 12 bits.
struct Wide {
  high: vec4f,
  low: vec4f,
}

// log2 v for normal v > 0, after fdlibm's e_powf.c: v = 2^k m with m nearest to c = 1 or 3/2, and
// log2 (m / c) = 2 atanh(s) / ln 2 = s (3 + s² + 3/5 s⁴ + …) 2 / (3 ln 2), s = (m - c) / (m + c).
fn wide_log2(v: vec4f) -> Wide {
  let fraction = bitcast<vec4u>(v) & vec4u(0x007fffffu);
  let is_low = fraction <= vec4u(0x001cc471u); // below sqrt(3/2)
  let is_high = fraction >= vec4u(0x005db3d7u); // from sqrt(3) on: m is half as large
  let is_middle = !(is_low | is_high);
  let exponent = vec4i(bitcast<vec4u>(v) >> vec4u(23u)) - select(vec4i(127), vec4i(126), is_high);
  let m = bitcast<vec4f>(select(vec4u(0x3f800000u), vec4u(0x3f000000u), is_high) | fraction);
  let c = select(vec4f(1.0), vec4f(1.5), is_middle);
  // s
  let difference = m - c;
  let sum = short(m + c);
  let sum_rest = m - kept(sum - c);
  let reciprocal = 1.0 / (m + c);
  let s = difference * reciprocal;
  let s_high = short(s);
  let s_low = reciprocal * (kept(difference - s_high * sum) - s_high * sum_rest);
  // 3 + s² + …
  let square = s * s;
  let rest = s_low * (s_high + s) + square * square
    * (0.6 + square * (0.42857143 + square * (0.33333334 + square * (0.27272728
      + square * 0.23076923))));
  let exact_square = s_high * s_high;
  let series = short(3.0 + exact_square + rest);
  let series_rest = rest - kept(kept(series - 3.0) - exact_square);
  // their product
  let large = s_high * series;
  let small = s_low * series + series_rest * s;
  let product = short(large + small);
  let product_rest = small - kept(product - large);
  // times 2 / (3 ln 2), plus log2 c, plus the exponent
  let scaled = PER_PRODUCT * product;
  let scaled_rest = select(vec4f(), vec4f(LOG2_C_REST), is_middle)
    + (PER_PRODUCT_REST * product + product_rest * 0.9617967);
  let log2_c = select(vec4f(), vec4f(LOG2_C), is_middle);
  let whole = vec4f(exponent);
  let high = short(scaled + scaled_rest + log2_c + whole);
  return Wide(high, scaled_rest - kept(kept(kept(high - whole) - log2_c) - scaled));
}

// 2 / (3 ln 2) and log2 1.5, each as 12 bits and the rest.
const PER_PRODUCT = 0.961669921875;
const PER_PRODUCT_REST = 0.00012677205086220056;
const LOG2_C = 0.5849609375;
const LOG2_C_REST = 1.5632211898264359e-06;
