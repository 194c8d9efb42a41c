// browsergpu: loads Pyodide and the wheel as any page does, and runs ours.py in it.

import { main } from "./common.mjs";
import { python } from "./python.mjs";

await main("ours", async () => {
  const pyodide = await python(["ours"], true);
  await pyodide.runPythonAsync("import bench_ours\nawait bench_ours.run()");
});
