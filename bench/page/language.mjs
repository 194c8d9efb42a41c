// Runs language.py in the page's Python: language.html?arguments=--shape llama-1b --format Q4_0, or
// ?arguments=model.gguf for a file beside this page.

import { main, post, query, workload } from "./common.mjs";
import { python, site } from "./python.mjs";

await main("language", async () => {
  const { wheel } = await site();
  const pyodide = await python(["language"], wheel, workload, post);
  /** @type {any} */ (globalThis).benchArguments = (query.get("arguments") ?? "").split(" ");
  await pyodide.runPythonAsync(`
import json, js, bench_language
from pyodide.ffi import run_sync
import browsergpu as bg
await bg.init_async()
bench_language.say = lambda row, **facts: run_sync(js.benchPost(json.dumps({"row": row, **facts})))
arguments = js.benchArguments.to_py()
if not arguments[0].startswith("-"):
    arguments[0] = js.URL.new(arguments[0], js.location.href).href
bench_language.main(arguments)`);
});
