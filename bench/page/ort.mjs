// onnxruntime-web 1.30 (WebGPU, the build with JSPI). Each row is a model of one operation, with
// its results bound to GPU memory.

import {
  devices, headsInside, main, measure, measureFirst, post, query, readEntries, upload,
} from "./common.mjs";
import { make } from "./data.mjs";
import * as ort from "./ort/ort.jspi.bundle.min.mjs";

const types = { f32: "float32", f16: "float16" };
const notes = { chain: "one graph of them all", variance: "of its parts" };
// If onnxruntime-web can compute a row in several ways, the table shows the fastest.
const ways = {
  attention: ["MultiHeadAttention", "of its parts"],
  conv2d: ["NHWC", "NCHW"],
};

await main("ort", async () => {
  ort.env.wasm.wasmPaths = new URL("ort/", location.href).href;
  ort.env.wasm.numThreads = 1;
  ort.env.logLevel = "error";
  ort.env.webgpu.powerPreference = "high-performance";
  post({ version: ort.env.versions.web });
  const models = await (await fetch("models.json")).json();
  const bytes = (id) => Uint8Array.fromBase64(models[id].model);
  const open = (id, weights, way) => ort.InferenceSession.create(bytes(id), {
    executionProviders: [{ name: "webgpu", ...(way === "NCHW" && { preferredLayout: way }) }],
    preferredOutputLocation: "gpu-buffer",
    logSeverityLevel: 3,
    externalData: Object.entries(weights).map(([path, array]) => ({
      path, data: new Uint8Array(array.buffer),
    })),
  });
  // Kept open, since onnxruntime-web destroys its device with the last session.
  const anchor = await open("anchor", {});
  const device = (await ort.env.webgpu.device) ?? devices.at(-1);
  const wait = () => device.queue.onSubmittedWorkDone();
  const onGpu = (buffer, dtype, dims) =>
    ort.Tensor.fromGpuBuffer(buffer, { dataType: types[dtype], dims });

  const constants = { conv2d: ["w"], layer_norm: ["gamma", "beta"] };
  const split = (row, arrayOf) => {
    const [weights, inputs] = [{}, {}];
    for (const key of Object.keys(row.inputs)) {
      const constant = constants[row.op]?.includes(key);
      (constant ? weights : inputs)[key] = arrayOf(key);
    }
    return { weights, inputs };
  };

  if (query.has("first")) {
    await measureFirst(async (row, arrays) => {
      const { weights, inputs } = split(row, (key) => arrays[key]);
      const session = await open(row.id, weights);
      const feeds = Object.fromEntries(Object.entries(inputs).map(([key, array]) =>
        [key, new ort.Tensor(types[row.dtype], array, models[row.id].shapes[key])]));
      const { out } = await session.run(feeds);
      return await out.getData();
    });
    await anchor.release();
    return;
  }

  // Float numbers as a typed array: 0 up to the diagonal, -1e4 above it.
  const causal = ({ length }, Numbers) => {
    const mask = new Numbers(length * length);
    for (let i = 0; i < length; i++) mask.fill(-1e4, i * length + i + 1, (i + 1) * length);
    return mask;
  };

  await measure(async (row, way) => {
    if (row.dtype === "f16" && !device.features.has("shader-f16")) {
      return { skip: "the device has no shader-f16" };
    }
    const name = row.op === "attention" && way === "of its parts" ? `${row.id}, parts` : row.id;
    const { shapes } = models[name];
    const heads = way === "MultiHeadAttention" ? headsInside(row.options) : null;
    const arrayOf = (key) => {
      const array = make(row.inputs[key]);
      return heads ? heads.permute(array) : array;
    };
    const { weights, inputs } = split(row, arrayOf);
    const session = await open(name, weights, way);
    const buffers = [];
    const onHost = row.op === "upload";
    const feeds = Object.fromEntries(Object.entries(inputs).map(([key, array]) => {
      if (onHost) return [key, new ort.Tensor(types[row.dtype], array, shapes[key])];
      buffers.push(upload(device, row.inputs[key], array));
      return [key, onGpu(buffers.at(-1), row.dtype, shapes[key])];
    }));
    if (shapes.mask) {
      const mask = causal(row.options, row.dtype === "f16" ? Float16Array : Float32Array);
      buffers.push(upload(device, { repeat: 1 }, mask));
      feeds.mask = onGpu(buffers.at(-1), row.dtype, shapes.mask);
    }
    const free = async () => {
      await wait();
      await session.release();
      for (const buffer of buffers) buffer.destroy();
    };
    if (row.op === "readback") {
      let last;
      return {
        wait, free,
        issue: async () => {
          const { out } = await session.run(feeds);
          last = await out.getData(true);
        },
        read: () => row.check.at.map((i) => last[i]),
      };
    }
    const size = row.out.reduce((a, b) => a * b, 1) * (row.dtype === "f16" ? 2 : 4);
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    buffers.push(device.createBuffer({ size: (size + 15) & ~15, usage }));
    const result = buffers.at(-1);
    const fetches = { out: onGpu(result, row.dtype, shapes.out) };
    return {
      wait, free,
      note: notes[row.op],
      issue: () => session.run(feeds, fetches),
      read: () => readEntries(device, result, row, heads?.place),
    };
  }, (row) => (row.op === "conv2d" && row.goal === null ? [ways.conv2d[0]] : ways[row.op] ?? [null]));
  await anchor.release();
});
