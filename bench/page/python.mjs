// Pyodide with NumPy, as any page loads it, and the benchmark's modules in it.

import { post, query, rows, rule } from "./common.mjs";
import { loadPyodide } from "./pyodide/pyodide.mjs";

const text = async (path) => (await fetch(path)).text();

// Loads Pyodide, `withWheel` browsergpu too, and the modules of those names: data.py as bench_data.
export async function python(names, withWheel) {
  const pyodide = await loadPyodide({ indexURL: new URL("pyodide/", location.href).href });
  await pyodide.loadPackage(["numpy", "micropip"], { messageCallback: () => {} });
  if (withWheel) {
    const { wheel } = JSON.parse(await text("site.json"));
    await pyodide.pyimport("micropip").install(new URL(wheel, location.href).href);
  }
  globalThis.benchPost = (line) => post(JSON.parse(line));
  globalThis.benchWork = JSON.stringify({ rows, rule, first: query.has("first") });
  for (const name of ["data", "rule", ...names]) {
    pyodide.FS.writeFile(`/home/pyodide/bench_${name}.py`, await text(`${name}.py`));
  }
  return pyodide;
}
