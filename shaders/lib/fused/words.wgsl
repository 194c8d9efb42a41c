// Four neighbouring elements of 8, 16 or 64 bits, packed in words.

//#include lib/fused/complex.wgsl
//#include lib/halves.wgsl

fn bytes_in(word: u32) -> vec4u {
  return vec4u(word) >> vec4u(0u, 8u, 16u, 24u);
}

fn shorts_in(words: vec2u) -> vec4u {
  return words.xxyy >> vec4u(0u, 16u, 0u, 16u);
}

fn halves_in(bits: vec4u) -> vec4f {
  let low = bits & vec4u(0xffffu);
  return widened(low.xz | (low.yw << vec2u(16u)));
}

fn bytes_of(v: vec4u) -> u32 {
  let b = v & vec4u(0xffu);
  return b.x | (b.y << 8u) | (b.z << 16u) | (b.w << 24u);
}

fn shorts_of(v: vec4u) -> vec2u {
  let s = v & vec4u(0xffffu);
  return s.xz | (s.yw << vec2u(16u));
}

fn halves_of(v: vec4f) -> vec2u {
  return shorts_of(exact_half_bits(v));
}

fn c_from_words(low: vec4u, high: vec4u) -> C {
  let a = bitcast<vec4f>(low);
  let b = bitcast<vec4f>(high);
  return C(vec4f(a.xz, b.xz), vec4f(a.yw, b.yw));
}

fn c_low_words(v: C) -> vec4u {
  return bitcast<vec4u>(vec4f(v.re.x, v.im.x, v.re.y, v.im.y));
}

fn c_high_words(v: C) -> vec4u {
  return bitcast<vec4u>(vec4f(v.re.z, v.im.z, v.re.w, v.im.w));
}
