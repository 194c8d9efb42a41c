// WgPy's Python: waits for the page's workload, runs it, and sends its lines back.

import { python, site } from "./python.mjs";

const tell = (message) => postMessage({ namespace: "bench", ...message });

async function run(workload) {
  // Evaluated as a classic script, since `var wgpy` must be global.
  (0, eval)(await (await fetch("wgpy/wgpy-worker.js")).text());
  await globalThis.wgpy.initWorker();
  const { wgpy } = await site();
  const modules = ["programs", "arrays", "arrays_wgpy"];
  const pyodide = await python(modules, `wgpy/${wgpy}`, workload, (line) => tell({ line }));
  await pyodide.runPythonAsync('import bench_arrays\nawait bench_arrays.run("wgpy")');
}

addEventListener("message", ({ data }) => {
  if (data.namespace !== "bench") return;
  run(data.workload).then(() => tell({}), (error) => tell({ error: String(error.message ?? error) }));
});
