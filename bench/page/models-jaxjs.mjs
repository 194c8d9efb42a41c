// Whole models in jax-js (WebGPU), each compiled with jit as one function. suite/whole.py defines
// the same models and the order of the weights.

import { post, readEntries } from "./common.mjs";
import { make } from "./data.mjs";
import * as jax from "./jax/index.js";

export async function work() {
  await jax.init("webgpu");
  jax.defaultDevice("webgpu");
  const { numpy: np, nn, lax } = jax;
  const device = jax.getWebGPUDevice();
  post({ version: (await (await fetch("site.json")).json()).versions.jaxjs });
  const wait = () => device.queue.onSubmittedWorkDone();
  const types = { f32: np.float32, f16: np.float16, i32: np.int32 };

  // Operands are consumed: `ref` keeps one for later. next() returns the next weight.
  const models = {
    resnet50(next, { x }) {
      const conv = (from, stride = 1) => {
        const w = next();
        const padding = w.shape[2] >> 1;
        const y = lax.convGeneralDilated(from, w, [stride, stride],
          [[padding, padding], [padding, padding]]);
        return y.add(next().reshape([1, y.shape[1], 1, 1]));
      };
      // No number is below 0 here, so padding with zeros gives the same maximum as -inf.
      const around = [[0, 0], [0, 0], [1, 1], [1, 1]];
      let h = lax.reduceWindow(np.pad(nn.relu(conv(x, 2)), around), (w) => np.max(w),
        [3, 3], [2, 2]);
      for (const [number, count] of [3, 4, 6, 3].entries()) {
        for (let block = 0; block < count; block++) {
          const stride = number > 0 && block === 0 ? 2 : 1;
          const y = conv(nn.relu(conv(nn.relu(conv(h.ref)), stride)));
          if (block === 0) h = conv(h, stride);
          h = nn.relu(y.add(h));
        }
      }
      return np.matmul(np.mean(h, [2, 3]), next()).add(next());
    },
    gpt(next, inputs, { layers, width, heads, count, before }) {
      const linear = (from) => np.matmul(from, next()).add(next());
      const norm = (from) => nn.standardize(from, -1, { epsilon: 1e-5 }).mul(next()).add(next());
      let x = np.take(next(), inputs.x.reshape([count]), 0);
      x = x.add(next().slice([before, before + count]));
      for (let layer = 0; layer < layers; layer++) {
        const three = linear(norm(x.ref)).reshape([1, count, 3, heads, width / heads]);
        const q = three.ref.slice([], [], 0);
        let k = three.ref.slice([], [], 1);
        let v = three.slice([], [], 2);
        if (before) {
          const old = (part) => np.transpose(inputs[`${part}${layer}`], [0, 2, 1, 3]);
          k = np.concatenate([old("keys"), k], 1);
          v = np.concatenate([old("values"), v], 1);
        }
        const y = nn.dotProductAttention(q, k, v, { isCausal: before === 0 });
        x = x.add(linear(y.reshape([count, width])));
        x = x.ref.add(linear(nn.gelu(linear(norm(x)), { approximate: true })));
      }
      return np.matmul(norm(x), next());
    },
  };

  return {
    ways: () => [null],
    end: async () => {},
    async prepare(row) {
      if (row.dtype === "f16" && !device.features.has("shader-f16")) {
        return { skip: "the device has no shader-f16" };
      }
      const all = [...Object.entries(row.inputs), ...Object.entries(row.weights)];
      const names = Object.keys(row.inputs);
      const operands = [];
      for (const [, input] of all) {
        operands.push(np.array(make(input), { dtype: types[input.dtype] }).reshape(input.shape));
        await jax.blockUntilReady(operands.at(-1));
      }
      const compiled = jax.jit((...given) => {
        let at = names.length;
        const inputs = Object.fromEntries(names.map((name, i) => [name, given[i]]));
        return models[row.model](() => given[at++], inputs, row.options);
      });
      const call = () => compiled(...operands.map((operand) => operand.ref));
      let issued = 0; // the first calls may compile, which needs await
      return {
        wait,
        issue: () => (issued++ < 3 ? call().gpuBuffer() : void call().gpuBufferSync()),
        read: async () => readEntries(device, await call().gpuBuffer(), row),
        free: () => operands.forEach((operand) => operand.dispose()),
      };
    },
  };
}
