// What the pages of the section "arrays" in JavaScript share: inputs that are not as the row has
// them, and the entries that are checked. programs.py does the same.

import { make } from "./data.mjs";

// Loads a script that is no module.
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

// The heat equation's start: zeros around what is inside.
export function padded({ inputs: { inside }, out: [height, width] }) {
  const values = make(inside);
  const all = new Float32Array(height * width);
  for (let i = 1; i < height - 1; i++) {
    all.set(values.subarray((i - 1) * (width - 2), i * (width - 2)), i * width + 1);
  }
  return all;
}

// The row's entries of a program's results, whose places count on from one to the next. Of argsort
// the elements are checked, as equal ones may be in any order.
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
