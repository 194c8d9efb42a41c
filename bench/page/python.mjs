// Pyodide with NumPy, and the benchmark's Python modules.

import { loadPyodide } from "./pyodide/pyodide.mjs";

const here = (path) => new URL(path, location.href).href;
const text = async (path) => (await fetch(here(path))).text();

export const site = async () => JSON.parse(await text("site.json"));

// Loads Pyodide, a wheel (or none, ""), and the named modules, such as data.py as bench_data. They
// get the workload, and send lines with `post`.
export async function python(names, wheel, workload, post) {
  const pyodide = await loadPyodide({ indexURL: here("pyodide/") });
  await pyodide.loadPackage(["numpy", "micropip"], { messageCallback: () => {} });
  if (wheel) await pyodide.pyimport("micropip").install(here(wheel));
  globalThis.benchPost = async (line) => post(JSON.parse(line));
  globalThis.benchWork = workload;
  for (const name of ["data", "rule", ...names]) {
    pyodide.FS.writeFile(`/home/pyodide/bench_${name}.py`, await text(`${name}.py`));
  }
  return pyodide;
}
