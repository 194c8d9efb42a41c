// Squares, square roots and hypotenuses. Subnormal numbers count as zeros.

//#include lib/math/bits.wgsl
//#include lib/math/wide.wgsl

fn np_square(v: vec4f) -> vec4f {
  return v * v;
}

// Within 0.51 ULP. Steps that few operands need are in branches, which threads without such
// operands skip.
fn np_sqrt(v: vec4f) -> vec4f {
  // The distance of the bits from those of 2^-70. For smaller and negative numbers it wraps to a
  // large one.
  let above = bitcast<vec4u>(v) - vec4u(0x1c800000u);
  let are_plain = max(max(above.x, above.y), max(above.z, above.w)) < INFINITY - 0x1c800000u;
  let size = size_bits(v);
  let exponent = vec4i(size >> vec4u(23u)) - vec4i(127);
  let odd = exponent & vec4i(1);
  var m = v;
  if (!are_plain) { // v = 4^half m for m in [1, 4), whose root is in [1, 2]
    m = mantissa(size) * (vec4f(1.0) + vec4f(odd));
  }
  var root = near_root(m);
  if (!are_plain) {
    let half = (exponent - odd) / vec4i(2);
    let scaled_root = bitcast<vec4i>(root) + (half << vec4u(23u));
    var bits = select(bitcast<vec4u>(scaled_root), size, size >= vec4u(INFINITY));
    bits = select(bits, vec4u(NAN), sign_bits(v) != vec4u());
    root = bitcast<vec4f>(select(bits, sign_bits(v), size < vec4u(SMALLEST)));
  }
  return root;
}

// Within 1.5 ULP, and infinite only if the result is: both are divided by the larger one's power of
// two.
fn np_hypot(p: vec4f, q: vec4f) -> vec4f {
  let p_size = size_bits(p);
  let q_size = size_bits(q);
  let larger = max(p_size, q_size);
  let smaller = min(p_size, q_size);
  let exponent = vec4i(larger >> vec4u(23u)) - vec4i(127);
  let first = mantissa(larger);
  let moved = bitcast<vec4i>(smaller) - (exponent << vec4u(23u));
  let is_nothing = (smaller < vec4u(SMALLEST)) | (moved < vec4i(0x00800000));
  let second = select(bitcast<vec4f>(moved), vec4f(), is_nothing);
  let size = times_power(near_root(first * first + second * second), exponent);

  var bits = select(bitcast<vec4u>(size), vec4u(), larger < vec4u(SMALLEST));
  bits = select(bits, vec4u(NAN), larger > vec4u(INFINITY));
  let is_infinite = (p_size == vec4u(INFINITY)) | (q_size == vec4u(INFINITY));
  return bitcast<vec4f>(select(bits, vec4u(INFINITY), is_infinite));
}
