// The input numbers of all pages. suite/data.py makes the same numbers and describes them.

const PERIOD = 1_048_573;

function block(salt, n) {
  const values = new Float32Array(n);
  const start = Math.imul(salt, 0x9e3779b1);
  for (let i = 0; i < n; i++) {
    let x = (i + start) | 0;
    x = Math.imul(x ^ (x >>> 16), 0x21f0aaad);
    x = Math.imul(x ^ (x >>> 15), 0x735a2d97);
    x ^= x >>> 15;
    values[i] = ((x >>> 8) | 1) / 16777216 - 0.5;
  }
  return values;
}

// A permutation of n indices; n is a power of two.
function permutation(n) {
  const places = new Int32Array(n);
  const shift = (32 - Math.clz32(n)) >> 1;
  for (let i = 0; i < n; i++) {
    let x = i ^ (i >>> shift);
    for (const factor of [0x9e3779b1, 0x85ebca6b]) {
      x = Math.imul(x, factor) & (n - 1);
      x ^= x >>> shift;
    }
    places[i] = x;
  }
  return places;
}

// One copy of an input as a typed array. The whole input has `repeat` copies.
export function make({ shape, salt, dtype, repeat, scale, offset, value }) {
  const n = shape.reduce((a, b) => a * b, 1) / repeat;
  if (dtype === "i32") return permutation(n);
  const values = new (dtype === "f16" ? Float16Array : Float32Array)(n);
  if (value !== null) return values.fill(value);
  /** @type {Float32Array | Float16Array} */
  let once = block(salt, Math.min(n, PERIOD));
  if (scale !== 1 || offset !== 0) once = once.map((x) => x * scale + offset);
  if (dtype === "f16") once = Float16Array.from(once);
  for (let at = 0; at < n; at += PERIOD) {
    values.set(n - at < once.length ? once.subarray(0, n - at) : once, at);
  }
  return values;
}
