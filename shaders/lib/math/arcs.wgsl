// Arcsine and arccosine within 1 ULP, the arctangent within 2, atan2 within 2.5.

//#include lib/floats.wgsl
//#include lib/kept.wgsl
//#include lib/math/bits.wgsl
//#include lib/math/quotients.wgsl
//#include lib/math/wide.wgsl

// π/2 as 12 bits and the rest.
const HALF_PI = 1.57080078125;
const HALF_PI_REST = -4.4544549e-6;

// asin s = s + s P(s²) for s up to 1/2: the polynomial of Cephes' asinf.c.
fn asin_series(t: vec4f) -> vec4f {
  return t * (1.6666752422e-1 + t * (7.4953002686e-2 + t * (4.5470025998e-2
    + t * (2.4181311049e-2 + t * 4.2163199048e-2))));
}

// For |v| from 1/2 on: asin of the root of (1 - |v|) / 2, as `high` of 12 bits and the rest. The
// arccosine is twice that.
struct Arc {
  high: vec4f,
  low: vec4f,
}

fn arc_of(size: vec4f) -> Arc {
  let square = max(0.5 - 0.5 * size, vec4f());
  let root = sqrt(square);
  let high = short(root);
  let low = kept(square - high * high) / max(root + high, vec4f(1e-30));
  return Arc(high, low + root * asin_series(square));
}

fn np_asin(v: vec4f) -> vec4f {
  let size = abs(v);
  let arc = arc_of(size);
  let near = size + size * asin_series(size * size);
  let far = kept(HALF_PI - 2.0 * arc.high) + (HALF_PI_REST - 2.0 * arc.low);
  let value = select(far, near, size < vec4f(0.5));
  return select(flipped(value, sign_bits(v)), vec4f(quiet_nan()), size_bits(v) > vec4u(ONE));
}

fn np_acos(v: vec4f) -> vec4f {
  let size = abs(v);
  let arc = arc_of(size);
  let near = HALF_PI - (v + (v * asin_series(v * v) - HALF_PI_REST));
  let positive = 2.0 * (arc.high + arc.low);
  let negative = 2.0 * (kept(HALF_PI - arc.high) + (HALF_PI_REST - arc.low));
  let far = select(positive, negative, v < vec4f());
  let value = select(far, near, size < vec4f(0.5));
  return select(value, vec4f(quiet_nan()), size_bits(v) > vec4u(ONE));
}

// For size >= 0: atan c + atan ((size - c) / (1 + c size)) for a nearby c of 0, 1/2, 1, 3/2 and
// infinity, with the polynomial and the parts of atan c of musl's atanf.c.
fn atan_of(size: vec4f) -> vec4f {
  let bounded = min(size, vec4f(1e30));
  let from_half = size >= vec4f(0.4375);
  let from_one = size >= vec4f(0.6875);
  let from_three_halves = size >= vec4f(1.1875);
  let from_infinity = size >= vec4f(2.4375);
  let c = select(select(vec4f(0.5), vec4f(1.0), from_one), vec4f(1.5), from_three_halves);
  let whole = select(select(select(vec4f(0.46364760399), vec4f(0.78539812565), from_one),
    vec4f(0.98279368877), from_three_halves), vec4f(1.5707962513), from_infinity);
  let rest = select(select(select(vec4f(5.012158244e-9), vec4f(3.7748947079e-8), from_one),
    vec4f(3.447321717e-8), from_three_halves), vec4f(7.5497894159e-8), from_infinity);
  let above = select(bounded - c, vec4f(-1.0), from_infinity);
  let below = select(1.0 + c * bounded, bounded, from_infinity);
  let turned = above / below;
  let v = select(bounded, turned, from_half);
  let t = v * v;
  let small = v * t * (-3.3333328366e-1 + t * (1.9999158382e-1 + t * (-1.4253635705e-1
    + t * (1.0648017377e-1 + t * -6.1687607318e-2))));
  return select(v + small, whole + kept(v + (small + rest)), from_half);
}

fn np_atan(v: vec4f) -> vec4f {
  return select(flipped(atan_of(abs(v)), sign_bits(v)), v, are_nan(v));
}

// The angle of the point (x, y). Signs of zeros matter, and two infinities count as equal numbers.
fn np_atan2(y: vec4f, x: vec4f) -> vec4f {
  let y_size = size_bits(y);
  let x_size = size_bits(x);
  let are_infinite = (y_size == vec4u(INFINITY)) & (x_size == vec4u(INFINITY));
  let quotient = np_divide(bitcast<vec4f>(y_size), bitcast<vec4f>(x_size));
  let equal = select(quotient, vec4f(1.0), are_infinite);
  let tangent = select(equal, vec4f(), y_size < vec4u(SMALLEST));
  let right = atan_of(tangent);
  let left = 2.0 * HALF_PI - (right - 2.0 * HALF_PI_REST);
  let value = flipped(select(right, left, sign_bits(x) != vec4u()), sign_bits(y));
  return select(value, vec4f(quiet_nan()), are_nan(x) | are_nan(y));
}
