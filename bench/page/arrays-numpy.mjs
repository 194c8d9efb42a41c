// NumPy in Pyodide, on the CPU, with the programs of programs.py.

import { post, workload } from "./common.mjs";
import { python } from "./python.mjs";

export async function work() {
  const pyodide = await python(["programs", "arrays"], "", workload, post);
  await pyodide.runPythonAsync('import bench_arrays\nawait bench_arrays.run("numpy")');
}
