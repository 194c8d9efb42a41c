// ONNX models in onnxruntime-web (WebGPU). Each variant is measured, and the report shows the
// fastest. They differ in the file, the image layout, whether the session captures and replays
// commands, and whether inputs and results are in the GPU's memory or in the host's.

import { check, devices, fail, post, query, readEntries, rule, time, upload } from "./common.mjs";
import { array, bytes } from "./onnx-files.mjs";
import * as ort from "./ort/ort.jspi.bundle.min.mjs";

/** @type {Record<string, any>} */
const types = { f32: "float32", f16: "float16", i32: "int32", i64: "int64" };
const options = { single: false };

/** @type {GPUDevice} */
let device;
const wait = () => device.queue.onSubmittedWorkDone();

const open = (row, { model, weights }, { layout = null, captured = false, gpu = false }) =>
  ort.InferenceSession.create(model, {
    executionProviders: [{ name: "webgpu", ...(layout ? { preferredLayout: layout } : {}) }],
    ...(gpu ? { preferredOutputLocation: "gpu-buffer" } : {}),
    freeDimensionOverrides: row.dimensions,
    enableGraphCapture: captured,
    logSeverityLevel: 3,
    externalData: Object.entries(weights).map(([path, data]) => ({ path, data })),
  });

const hostInputs = (row) => Object.fromEntries(Object.entries(row.inputs).map(([name, input]) =>
  [name, new ort.Tensor(types[input.dtype], array(input), input.shape)]));

// The entries to check, of results as typed arrays by name.
const picked = (row, results) => row.outputs.flatMap(({ name, at }) => at.map((i) => results[name][i]));

async function first(row, title) {
  const files = await bytes(row, title);
  const feeds = hostInputs(row);
  const start = performance.now();
  const session = await open(row, files, { layout: row.first_layout });
  const loaded = performance.now() - start;
  const results = await session.run(feeds);
  for (const name of session.outputNames) results[name] = await results[name].getData();
  const ms = performance.now() - start;
  await session.release();
  post({ row: row.id, first_ms: ms, load_ms: loaded, check: check(row, picked(row, results)) });
}

// Inputs and results in buffers on the GPU.
async function onGpu(row, session) {
  const buffers = [];
  const tensor = (buffer, dtype, dims) => {
    buffers.push(buffer);
    return ort.Tensor.fromGpuBuffer(buffer, { dataType: types[dtype], dims });
  };
  const feeds = Object.fromEntries(Object.entries(row.inputs).map(([name, input]) =>
    [name, tensor(upload(device, { repeat: 1 }, array(input)), input.dtype, input.shape)]));
  const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
  const results = Object.fromEntries(row.outputs.map(({ name, dtype, shape }) => {
    const size = shape.reduce((a, b) => a * b, 1) * (dtype === "f16" ? 2 : 4);
    const buffer = device.createBuffer({ size: (size + 15) & ~15, usage });
    return [name, tensor(buffer, dtype, shape)];
  }));
  return {
    wait,
    issue: () => session.run(feeds, results),
    async read() {
      const found = [];
      for (const { name, dtype, at } of row.outputs) {
        found.push(...await readEntries(device, results[name].gpuBuffer, { dtype, check: { at } }));
      }
      return found;
    },
    free: () => buffers.forEach((buffer) => buffer.destroy()),
  };
}

// Inputs and results on the host, for models that mostly run there.
function onHost(row, session) {
  const feeds = hostInputs(row);
  let last;
  return {
    wait,
    issue: async () => { last = await session.run(feeds); },
    async read() {
      const results = {};
      for (const { name } of row.outputs) results[name] = await last[name].getData();
      return picked(row, results);
    },
    free() {},
  };
}

async function measure(row, title, way) {
  const name = [title, way.layout, way.gpu ? "on the GPU" : "on the host", way.captured && "captured"];
  const line = { row: row.id, way: name.filter(Boolean).join(", ") };
  let session, work;
  try {
    session = await open(row, await bytes(row, title), way);
    work = way.gpu ? await onGpu(row, session) : onHost(row, session);
    Object.assign(line, await time(work, row.budget, options.single));
    line.wait_ms = (await time(work, row.budget, true)).ms;
    line.check = check(row, await work.read());
    post(line);
  } catch (error) {
    post({ ...line, error: String(error?.message ?? error).slice(0, 600) });
  }
  await wait();
  work?.free();
  try {
    await session?.release();
  } catch (error) {
    fail(null, error);
  }
}

export async function work(rows) {
  ort.env.wasm.wasmPaths = new URL("ort/", location.href).href;
  ort.env.wasm.numThreads = 1;
  ort.env.logLevel = "error";
  ort.env.webgpu.powerPreference = "high-performance";
  post({ version: ort.env.versions.web, rule });
  // Kept open, since onnxruntime-web destroys its device with the last session.
  const { anchor: { model } } = await (await fetch("models.json")).json();
  const anchor = await open({ dimensions: {} }, { model: Uint8Array.fromBase64(model), weights: {} }, {});
  device = (await ort.env.webgpu.device) ?? devices.at(-1);
  for (const row of rows) {
    if (row.dtype === "f16" && !device.features.has("shader-f16")) {
      post({ row: row.id, skip: "the device has no shader-f16" });
      continue;
    }
    const titles = Object.keys(row.files);
    try {
      await first(row, titles[0]);
    } catch (error) {
      fail(row.id, error);
    }
    if (query.has("first")) continue;
    for (const title of titles) {
      for (const layout of row.layouts.length ? row.layouts : [null]) {
        for (const captured of [false, true]) {
          await measure(row, title, { layout, captured, gpu: true });
        }
      }
      if (row.id.includes("silero") || row.id.includes("magika")) {
        await measure(row, title, { layout: row.first_layout });
      }
    }
  }
  await anchor.release();
}
