// Whole models in onnxruntime-web (WebGPU), with inputs and logits on the GPU. A model runs in
// several variants, and the table shows the fastest. They differ in the image layout, in attention
// as one operator or several, and in whether the session captures and replays commands.

import { devices, post, readEntries, upload } from "./common.mjs";
import { make } from "./data.mjs";
import * as ort from "./ort/ort.jspi.bundle.min.mjs";

/** @type {Record<string, any>} */
const types = { f32: "float32", f16: "float16", i32: "int32" };

export async function work() {
  ort.env.wasm.wasmPaths = new URL("ort/", location.href).href;
  ort.env.wasm.numThreads = 1;
  ort.env.logLevel = "error";
  ort.env.webgpu.powerPreference = "high-performance";
  post({ version: ort.env.versions.web });
  const open = (model, externalData, layout = null, captured = false) =>
    ort.InferenceSession.create(Uint8Array.fromBase64(model), {
      executionProviders: [{ name: "webgpu", ...(layout ? { preferredLayout: layout } : {}) }],
      preferredOutputLocation: "gpu-buffer",
      enableGraphCapture: captured,
      logSeverityLevel: 3,
      externalData,
    });
  // Kept open, since onnxruntime-web destroys its device with the last session.
  const { anchor: { model } } = await (await fetch("models.json")).json();
  const anchor = await open(model, []);
  const device = (await ort.env.webgpu.device) ?? devices.at(-1);
  const wait = () => device.queue.onSubmittedWorkDone();

  return {
    ways: ({ ways }) => ways.map(({ name }) => name),
    end: () => anchor.release(),
    async prepare(row, name) {
      if (row.dtype === "f16" && !device.features.has("shader-f16")) {
        return { skip: "the device has no shader-f16" };
      }
      const way = row.ways.find((each) => each.name === name);
      const weights = Object.entries(row.weights).map(([path, input]) =>
        ({ path, data: new Uint8Array(make(input).buffer) }));
      const session = await open(way.model, weights, way.layout, way.captured);
      const buffers = [];
      const onGpu = (buffer, dtype, dims) => {
        buffers.push(buffer);
        return ort.Tensor.fromGpuBuffer(buffer, { dataType: types[dtype], dims });
      };
      const feeds = Object.fromEntries(Object.entries(row.inputs).map(([key, input]) =>
        [key, onGpu(upload(device, input, make(input)), input.dtype, input.shape)]));
      const size = row.out.reduce((a, b) => a * b, 1) * (row.dtype === "f16" ? 2 : 4);
      const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
      const result = device.createBuffer({ size: (size + 15) & ~15, usage });
      const fetches = { out: onGpu(result, row.dtype, row.out) };
      return {
        wait,
        issue: () => session.run(feeds, fetches),
        read: () => readEntries(device, result, row),
        async free() {
          await wait();
          await session.release();
          for (const buffer of buffers) buffer.destroy();
        },
      };
    },
  };
}
