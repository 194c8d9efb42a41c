// browsergpu's arrays, with the programs of programs.py.

import { post, workload } from "./common.mjs";
import { python, site } from "./python.mjs";

export async function work() {
  const { wheel } = await site();
  const pyodide = await python(["programs", "arrays"], wheel, workload, post);
  await pyodide.runPythonAsync('import bench_arrays\nawait bench_arrays.run("ours")');
}
