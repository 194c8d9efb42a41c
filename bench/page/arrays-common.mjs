// Shared by the JavaScript pages of the section "arrays": inputs that differ from those of the row,
// and the entries to check. programs.py does the same.

import { make } from "./data.mjs";

// Loads a classic script.
export const script = (src) => new Promise((resolve, reject) => {
  document.head.append(Object.assign(document.createElement("script"), {
    src, onload: resolve, onerror: () => reject(new Error(`${src} does not load`)),
  }));
});

// Mandelbrot's points: linspace, as NumPy computes it, in float32.
export function grid({ options, out: [height, width] }) {
  const axis = ([low, high], n) =>
    Float32Array.from({ length: n }, (_, i) => (i === n - 1 ? high : i * ((high - low) / (n - 1)) + low));
  return { real: axis(options.real, width), imag: axis(options.imag, height) };
}

// The initial state of the heat equation: the inner points, surrounded by zeros.
export function padded({ inputs: { inside }, out: [height, width] }) {
  const values = make(inside);
  const all = new Float32Array(height * width);
  for (let i = 1; i < height - 1; i++) {
    all.set(values.subarray((i - 1) * (width - 2), i * (width - 2)), i * width + 1);
  }
  return all;
}

// The row's entries of a program's results, whose indices continue from one result to the next. For
// argsort, the selected elements are checked, since equal ones may be in any order.
export function picked(row, results) {
  const values = row.op === "argsort" ? make(row.inputs.x) : null;
  return row.check.at.map((index) => {
    let place = index;
    for (const result of results) {
      if (place < result.length) return Number(values ? values[result[place]] : result[place]);
      place -= result.length;
    }
    throw new Error(`no entry ${index}`);
  });
}
