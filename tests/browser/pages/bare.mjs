// The bare page: Pyodide and a canvas, no files of web/. `?kernel=main` runs Python in this thread,
// `?kernel=worker` in a worker that gets the canvas as an OffscreenCanvas. With `&webgpu=plain` the
// browser's WebGPU has no optional features (plain-webgpu.mjs).
//
// The test harness calls `bare.start(id, method, ...args)` and gets the outcome through the binding
// `bareSettled`, so that its waits do not depend on this thread.
// The bindings `bareSettled` and `bareReport` are Playwright's; see harness/bare.py.

import "./plain-webgpu.mjs";
import "./watch-webgpu.mjs";

const inWorker = new URLSearchParams(location.search).get("kernel") === "worker";

async function callHere() {
  const kernel = await import("./kernel.mjs");
  globalThis.reportTest = (json) => globalThis.bareReport(json);
  return (method, args) => kernel[method](...args);
}

async function callWorker() {
  const worker = new Worker(`kernel-worker.mjs${location.search}`, { type: "module", name: "bare-kernel" });
  const pending = new Map();
  let calls = 0;
  worker.onmessage = ({ data }) => {
    if (data.report !== undefined) {
      globalThis.bareReport(data.report);
      return;
    }
    const { resolve, reject } = pending.get(data.call);
    pending.delete(data.call);
    if (data.failure === undefined) resolve(data.value);
    else reject(new Error(data.failure));
  };
  worker.onerror = (event) => {
    const failure = new Error(`the worker failed: ${event.message} (${event.filename}:${event.lineno})`);
    for (const { reject } of pending.values()) reject(failure);
    pending.clear();
  };
  const element = /** @type {HTMLCanvasElement} */ (document.getElementById("gpu-canvas"));
  const canvas = element.transferControlToOffscreen();
  worker.postMessage({ canvasId: "gpu-canvas", canvas }, [canvas]);
  return (method, args) =>
    new Promise((resolve, reject) => {
      calls += 1;
      pending.set(calls, { resolve, reject });
      worker.postMessage({ call: calls, method, args });
    });
}

const calling = inWorker ? callWorker() : callHere();

globalThis.bare = {
  start(id, method, ...args) {
    calling
      .then((call) => call(method, args))
      .then(
        (value) => globalThis.bareSettled(id, true, value ?? null),
        (error) => globalThis.bareSettled(id, false, String(error?.stack || error)),
      );
  },
};
