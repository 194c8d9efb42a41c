// y[i] for i < n: shift + scale × random numbers of the standard normal or exponential
// distribution. One vec4 per thread.
//
// All steps but the last product and sum use integers, which wrap in the same way on every device.
// WGSL guarantees neither the rounding of floats nor that they are not contracted. Numbers are
// fractions of a power of two; products keep their upper words. tensors/philox.py computes the same
// on the host.

//#include lib/kept.wgsl
//#include lib/philox.wgsl

// 0 normal, 1 exponential
override OP: u32 = 0u;

// mantissa / 2^point
struct Number {
  mantissa: u32,
  point: u32,
}

// Rounded to 24 digits; neither 0 nor subnormal.
fn to_float(number: Number) -> f32 {
  let zeros = countLeadingZeros(number.mantissa);
  let value = number.mantissa << zeros;
  let digits = (value >> 8u) + ((value >> 7u) & 1u);
  return f32(digits) * bitcast<f32>((135u - number.point - zeros) << 23u);
}

// -ln u for u = (word | 1) / 2^32, its mantissa at least 2^31.
fn negative_log(word: u32) -> Number {
  var zeros = countLeadingZeros(word | 1u);
  var u = (word | 1u) << zeros; // u × 2^zeros, from 1/2 to 1
  var halves = 2u * zeros;
  if (u < 0xb504f334u) { // sqrt(1/2); multiplied by sqrt(2)
    u = high(u, 0xb504f334u) << 1u;
    halves += 1u;
  }
  // -ln(1 - f) / f within 2^-32.6, times 2^31.
  let f = 0u - u;
  var ratio = high(f, high(f, 0x2c8cc8e7u)) + 0x15cb36ceu;
  ratio = high(f, ratio) + 0x1512ac2au;
  ratio = high(f, ratio) + 0x19940f5bu;
  ratio = high(f, ratio) + 0x20013894u;
  ratio = high(f, ratio) + 0x2aaa99b5u;
  ratio = high(f, ratio) + 0x40000045u;
  ratio = high(f, ratio) + 0x80000000u;
  // Near 1, -ln u is f × ratio, whose digits all count. Otherwise it is added to multiples of ln 2.
  let near = countLeadingZeros(f);
  var value = high(f << near, ratio);
  var point = 31u + near;
  if (halves != 0u) {
    value = halves * 46516320u + ((high(f, ratio) + 8u) >> 4u);
    point = 27u;
  }
  zeros = countLeadingZeros(value);
  return Number(value << zeros, point + zeros);
}

// sqrt(-2 ln u), with a rounded mantissa from 2^23 to 2^24. The built-in root may be off by a few.
// The error of the mantissa's square is less than 2^31, so its lower word determines it.
fn radius(word: u32) -> Number {
  let square = negative_log(word);
  let is_odd = square.point % 2u == 0u; // of 2 × the square
  let guess = sqrt(f32(square.mantissa)) * select(256.0, 181.01934, is_odd);
  var root = u32(guess);
  var rest = bitcast<i32>((square.mantissa << select(16u, 15u, is_odd)) - root * root);
  for (var i = 0u; i < 32u && rest < 0; i++) {
    root -= 1u;
    rest += bitcast<i32>(2u * root + 1u);
  }
  for (var i = 0u; i < 32u && rest > bitcast<i32>(2u * root); i++) {
    rest -= bitcast<i32>(2u * root + 1u);
    root += 1u;
  }
  root += select(0u, 1u, rest > bitcast<i32>(root));
  return Number(root, select((square.point - 1u) / 2u + 8u, square.point / 2u + 7u, is_odd));
}

// Two numbers from two words, by Box and Muller, https://doi.org/10.1214/aoms/1177706645. The
// second word is the angle; its first three bits are the octant.
fn normals(words: vec2u) -> vec2f {
  let distance = radius(words.x);
  let t = (words.y << 3u) | 4u; // of π/4, in 2^-32
  let x = high(t, t);
  let zeros = countLeadingZeros(t);
  let sine = high(t << zeros, 0xc90fdaa2u - high(x,
    0x14abbce5u - high(x, 0xa335ddu - high(x, 0x26595u - high(x, 0x52fu)))));
  let cosine = 0xffffffffu - high(x,
    0x4ef4f31du - high(x, 0x40f0770u - high(x, 0x155c58u - high(x, 0x3b38u))));
  let across = to_float(Number(high(distance.mantissa << 7u, cosine), distance.point + 7u));
  let along = to_float(Number(high(distance.mantissa << 7u, sine), distance.point + 7u + zeros));
  let both = select(
    vec2f(across, along), vec2f(along, across), vec2<bool>(((words.y >> 29u) & 1u) != 0u));
  return select(both, -both, ((vec2u(words.y) >> vec2u(30u, 31u)) & vec2u(1u)) != vec2u());
}

fn exponential(word: u32) -> f32 {
  return to_float(negative_log(word));
}

fn values(words: vec4u) -> vec4f {
  switch (OP) {
    case 0u: { return vec4f(normals(words.xy), normals(words.zw)); }
    case 1u, default: {
      return vec4f(
        exponential(words.x), exponential(words.y), exponential(words.z), exponential(words.w));
    }
  }
}

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let i = index(id, groups);
  if (4u * i < params.n) {
    let scaled = kept(bitcast<f32>(params.scale) * values(block(i)));
    store(i, bitcast<vec4u>(bitcast<f32>(params.shift) + scaled));
  }
}
