// browsergpu: loads Pyodide and the wheel as any page does, and runs ours.py in it.

import { main, post, query, rows, rule } from "./common.mjs";
import { loadPyodide } from "./pyodide/pyodide.mjs";

const text = async (path) => (await fetch(path)).text();

await main("ours", async () => {
  const pyodide = await loadPyodide({ indexURL: new URL("pyodide/", location.href).href });
  await pyodide.loadPackage(["numpy", "micropip"], { messageCallback: () => {} });
  const { wheel } = JSON.parse(await text("site.json"));
  const micropip = pyodide.pyimport("micropip");
  await micropip.install(new URL(wheel, location.href).href);
  globalThis.benchPost = (line) => post(JSON.parse(line));
  globalThis.benchWork = JSON.stringify({ rows, rule, first: query.has("first") });
  for (const name of ["data", "ours"]) {
    pyodide.FS.writeFile(`/home/pyodide/bench_${name}.py`, await text(`${name}.py`));
  }
  await pyodide.runPythonAsync("import bench_ours\nawait bench_ours.run()");
});
