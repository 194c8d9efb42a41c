// Language models in onnxruntime-web (WebGPU): language-ort.html?model=llama-1b int4&prompt=512.
// Keys and values stay on the GPU in buffers that are input and output. With `captured`, the
// session captures a step and replays it.

import { devices, main, post, query } from "./common.mjs";
import * as ort from "./ort/ort.jspi.bundle.min.mjs";

/** @type {Record<string, any>} */
const types = { f32: "float32", f16: "float16" };
const widths = { f32: 4, f16: 2, u8: 1 };

// Random bytes. Floats are between 2^-8 and 2^-7 in size, which keeps sums finite.
function random(dtype, count) {
  const data = new Uint8Array(count * widths[dtype]);
  for (let at = 0; at < data.length; at += 65536) {
    crypto.getRandomValues(data.subarray(at, Math.min(at + 65536, data.length)));
  }
  if (dtype === "f16") for (let i = 1; i < data.length; i += 2) data[i] = (data[i] & 0x80) | 0x1c;
  if (dtype === "f32") for (let i = 3; i < data.length; i += 4) data[i] = (data[i] & 0x80) | 0x3b;
  return data;
}

const median = (times) => times.sort((a, b) => a - b)[times.length >> 1];

await main("language-ort", async () => {
  ort.env.wasm.wasmPaths = new URL("ort/", location.href).href;
  ort.env.wasm.numThreads = 1;
  ort.env.logLevel = "error";
  ort.env.webgpu.powerPreference = "high-performance";
  const known = await (await fetch("decoders.json")).json();
  const own = known.find(({ id }) => id === query.get("model"));
  const length = Number(query.get("prompt") ?? 512);
  const steps = Number(query.get("tokens") ?? 128);
  const captured = query.has("captured");
  const weights = own.weights.map(([path, dtype, count]) => ({ path, data: random(dtype, count) }));
  const file = Uint8Array.fromBase64(own.model);

  const open = (S) => ort.InferenceSession.create(file, {
    executionProviders: ["webgpu"],
    preferredOutputLocation: "gpu-buffer",
    freeDimensionOverrides: { S },
    enableGraphCapture: captured,
    logSeverityLevel: 3,
    externalData: weights,
  });

  async function measure(name, S, count, position) {
    const begin = performance.now();
    const session = await open(S);
    const loaded = performance.now() - begin;
    const device = (await ort.env.webgpu.device) ?? devices.at(-1);
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    const onGpu = (dataType, dims, bytes) => {
      const size = (bytes + 15) & ~15;
      const tensor = ort.Tensor.fromGpuBuffer(device.createBuffer({ size, usage }), { dataType, dims });
      return tensor;
    };
    const elements = own.cache.reduce((a, b) => a * b, 1);
    const feeds = {}, results = {};
    for (let layer = 0; layer < own.layers; layer++) {
      for (const part of ["key", "value"]) {
        const kept = onGpu(types[own.dtype], own.cache, elements * widths[own.dtype]);
        feeds[`past_${part}_${layer}`] = results[`present_${part}_${layer}`] = kept;
      }
    }
    const read = async (token) => {
      if (token.location === "cpu") return token.data[0];
      const copy = device.createBuffer({ size: 8, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ });
      const encoder = device.createCommandEncoder();
      encoder.copyBufferToBuffer(token.gpuBuffer, 0, copy, 0, 8);
      device.queue.submit([encoder.finish()]);
      await copy.mapAsync(GPUMapMode.READ);
      const found = new BigInt64Array(copy.getMappedRange())[0];
      copy.destroy();
      return found;
    };
    const fill = (tensor, data) => device.queue.writeBuffer(tensor.gpuBuffer, 0, data);
    let token = 5n;
    const inputs = captured
      ? { tokens: onGpu("int64", [1, S], 8 * S), before: onGpu("int32", [1], 4), total: onGpu("int32", [1], 4) }
      : null;
    if (captured) results.token = onGpu("int64", [1, 1], 8);
    const step = async (at) => {
      const tokens = BigInt64Array.from({ length: S }, (_, i) => (S === 1 ? token : BigInt(i % 100 + 5)));
      const before = Int32Array.of(at + S - 1), total = Int32Array.of(at + S);
      if (inputs) {
        fill(inputs.tokens, tokens);
        fill(inputs.before, before);
        fill(inputs.total, total);
        Object.assign(feeds, inputs);
      } else {
        feeds.tokens = new ort.Tensor("int64", tokens, [1, S]);
        feeds.before = new ort.Tensor("int32", before, [1]);
        feeds.total = new ort.Tensor("int32", total, [1]);
      }
      const found = await session.run(feeds, inputs ? results : { ...results, token: null });
      token = await read(found.token);
      if (token < 0n || token >= BigInt(own.vocabulary)) throw new Error(`token ${token}`);
    };
    for (let n = 0; n < 4; n++) await step(position + (S === 1 ? n : 0));
    const times = [];
    for (let n = 0; n < count; n++) {
      const start = performance.now();
      await step(position + (S === 1 ? 4 + n : 0));
      times.push(performance.now() - start);
    }
    const whole = times.reduce((a, b) => a + b, 0) / times.length;
    const ms = S === 1 ? whole : median(times.slice(times.length >> 1));
    post({ row: `${name}: ${own.id}`, captured, per_second: S * 1000 / ms, loaded_ms: loaded });
    await session.release();
  }

  if (query.has("decode")) await measure("decode", 1, steps, length);
  else await measure("prompt", length, 24, 0);
});
