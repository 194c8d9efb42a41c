// browsergpu: loads Pyodide and the wheel like any page, and runs ours.py.

import { main, post, workload } from "./common.mjs";
import { python, site } from "./python.mjs";

await main("ours", async () => {
  const { wheel } = await site();
  const pyodide = await python(["ours"], wheel, workload, post);
  await pyodide.runPythonAsync("import bench_ours\nawait bench_ours.run()");
});
