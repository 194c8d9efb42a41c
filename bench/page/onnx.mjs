// ONNX models (suite/onnx_cases.py) in the library of the address: ?library=ort&only=BERT. A row's
// first line has the time from the file's bytes to the first result. It is cold only for the first
// row of a page. A line for each variant has the times of calls.

import { main, post, query, rows, workload } from "./common.mjs";
import { array, bytes } from "./onnx-files.mjs";
import { python, site } from "./python.mjs";

const library = query.get("library") ?? "ours";

await main(library, async () => {
  if (library === "ort") {
    await (await import("./onnx-ort.mjs")).work(rows);
    return;
  }
  const { wheel } = await site();
  const pyodide = await python(["onnx"], wheel, workload, post);
  /** @type {any} */ (globalThis).benchBytes = async (id, title) =>
    bytes(rows.find((row) => row.id === id), title);
  /** @type {any} */ (globalThis).benchArray = (id, name) =>
    new Uint8Array(array(rows.find((row) => row.id === id).inputs[name]).buffer);
  await pyodide.runPythonAsync("import bench_onnx\nawait bench_onnx.run()");
});
