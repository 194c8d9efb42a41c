/** The GPU's memory over time. */
import { formatBytes } from "../base/dom.js";

const SAMPLES = 120;
const WIDTH = 240;
const HEIGHT = 48;

/** Draw the memory of `kernel` into `chart`, an SVG polyline, and describe it in `text`. */
export function showGpuMemory(kernel, { chart, text }) {
  /** @type {number[]} */
  let samples = [];
  let peak = 0;
  const draw = () => {
    const most = Math.max(...samples, 1);
    const points = samples.map((bytes, index) =>
      `${(index * WIDTH) / (SAMPLES - 1)},${HEIGHT - 1 - (bytes / most) * (HEIGHT - 2)}`);
    chart.setAttribute("points", points.join(" "));
  };
  kernel.addEventListener("memory", ({ detail: { devices, bytes, pooled, buffers } }) => {
    if (devices === 0) return;
    samples = [...samples, bytes].slice(-SAMPLES);
    peak = Math.max(peak, bytes);
    draw();
    text.textContent = `${formatBytes(bytes)} in ${buffers} ${buffers === 1 ? "buffer" : "buffers"}, `
      + `highest ${formatBytes(peak)}, ${formatBytes(pooled)} kept for reuse`;
  });
  kernel.addEventListener("state", ({ detail: { state } }) => {
    if (state !== "loading") return;
    [samples, peak] = [[], 0];
    draw();
    text.textContent = "No array is on the GPU yet.";
  });
}
