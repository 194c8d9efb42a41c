/** Counts the downloaded bytes of the kernel's files while Pyodide fetches them. */

/**
 * Wrap the worker's `fetch` until `stop()` is called. `files` maps each expected path to its size.
 * `report` gets `{stage, loaded, total}` as bytes arrive.
 */
export function watchDownloads(files, report) {
  const original = self.fetch;
  const total = [...files.values()].reduce((sum, size) => sum + size, 0);
  const arrived = new Map();
  let reported = 0;

  const say = (path) => {
    const loaded = [...arrived.values()].reduce((sum, size) => sum + size, 0);
    // A message for every chunk would cost more than the chunk.
    if (loaded < total && loaded - reported < total / 200) return;
    reported = loaded;
    report({ stage: `Loading ${label(path)}`, loaded, total });
  };

  const count = (path, bytes) => {
    arrived.set(path, Math.min((arrived.get(path) ?? 0) + bytes, files.get(path)));
    say(path);
  };

  self.fetch = async (input, options) => {
    const response = await original.call(self, input, options);
    const url = input instanceof Request ? input.url : input;
    const path = new URL(url, location.href).pathname;
    if (!files.has(path) || !response.ok || !response.body) return response;
    const counted = response.body.pipeThrough(new TransformStream({
      transform(chunk, controller) {
        count(path, chunk.byteLength);
        controller.enqueue(chunk);
      },
    }));
    // The headers are kept, since WebAssembly streaming requires the MIME type.
    return new Response(counted, response);
  };

  // Modules are not loaded through fetch; the browser reports when they arrive.
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const path = new URL(entry.name).pathname;
      if (files.has(path)) {
        arrived.set(path, files.get(path));
        say(path);
      }
    }
  });
  observer.observe({ type: "resource" });

  return {
    stop() {
      self.fetch = original;
      observer.disconnect();
    },
  };
}

/** @type {[RegExp, string][]} */
const LABELS = [
  [/pyodide\.asm|python_stdlib/, "Python"],
  [/\/numpy-/, "NumPy"],
  [/\/micropip-/, "micropip"],
  [/\/browsergpu-/, "browsergpu"],
];

function label(path) {
  return LABELS.find(([pattern]) => pattern.test(path))?.[1] ?? path.split("/").pop();
}
