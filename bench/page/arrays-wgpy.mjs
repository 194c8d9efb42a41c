// WgPy on WebGPU. Python runs in a worker. WgPy's own script uses the GPU on the main thread.

import { post, workload } from "./common.mjs";
import { script } from "./arrays-common.mjs";

export async function work() {
  await script("wgpy/wgpy-main.js");
  const worker = new Worker("arrays-wgpy-worker.mjs", { type: "module" });
  await globalThis.wgpy.initMain(worker, { backendOrder: ["webgpu"] });
  await new Promise((resolve, reject) => {
    worker.addEventListener("error", ({ message }) => reject(new Error(message)));
    worker.addEventListener("message", ({ data }) => {
      if (data.namespace !== "bench") return;
      if (data.line) post(data.line);
      else if (data.error) reject(new Error(data.error));
      else resolve(undefined);
    });
    worker.postMessage({ namespace: "bench", workload });
  });
}
