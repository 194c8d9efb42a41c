// The worker side of bare.mjs: answers { call, method, args } with { call, value } or
// { call, failure }, and forwards the reports of in-page tests.

import "./plain-webgpu.mjs";
import "./watch-webgpu.mjs";
import * as kernel from "./kernel.mjs";

globalThis.reportTest = (json) => postMessage({ report: json });

globalThis.onmessage = async ({ data }) => {
  if (data.canvas !== undefined) {
    (globalThis.browsergpuCanvases ??= new Map()).set(data.canvasId, data.canvas);
    return;
  }
  try {
    postMessage({ call: data.call, value: await kernel[data.method](...data.args) });
  } catch (error) {
    postMessage({ call: data.call, failure: String(error?.message || error) });
  }
};
