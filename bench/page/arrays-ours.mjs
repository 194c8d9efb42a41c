// browsergpu's arrays: the programs as they stand in programs.py.

import { python } from "./python.mjs";

export async function work() {
  const pyodide = await python(["programs", "arrays"], true);
  await pyodide.runPythonAsync('import bench_arrays\nawait bench_arrays.run("ours")');
}
