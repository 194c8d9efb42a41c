// jax-js 0.1 on WebGPU, each operation in a function compiled with jit.

import {
  headsInside, main, measure, measureFirst, post, query, readEntries,
} from "./common.mjs";
import { make } from "./data.mjs";
import * as jax from "./jax/index.js";

await main("jaxjs", async () => {
  await jax.init("webgpu");
  jax.defaultDevice("webgpu");
  const { numpy: np, nn, lax } = jax;
  const device = jax.getWebGPUDevice();
  post({ version: (await (await fetch("site.json")).json()).versions.jaxjs });
  const wait = () => device.queue.onSubmittedWorkDone();
  const types = { f32: np.float32, f16: np.float16 };

  // Operands are consumed: `ref` keeps one for later.
  const calls = {
    matmul: ({ a, b }, o) => np.matmul(
      o.transpose_a ? np.transpose(a) : a, o.transpose_b ? np.transpose(b) : b),
    conv2d: ({ x, w }, o) => lax.convGeneralDilated(x, w, [o.stride, o.stride],
      [[o.padding, o.padding], [o.padding, o.padding]]),
    softmax: ({ x }, o) => nn.softmax(x, o.axis),
    layer_norm: ({ x, gamma, beta }) =>
      nn.standardize(x, -1, { epsilon: 1e-5 }).mul(gamma).add(beta),
    sum: ({ x }, o) => np.sum(x, o.axis),
    variance: ({ x }, o) => np.var_(x, o.axis),
    relu: ({ x }) => nn.relu(x),
    add: ({ x, y }) => np.add(x, y),
    transpose: ({ x }) => np.transpose(x).add(0),
    attention: ({ q, k, v }, o) => nn.dotProductAttention(q, k, v, { isCausal: o.causal }),
  };

  const array = async (input, values = make(input)) => {
    const { shape, dtype, repeat } = input;
    const once = np.array(values, { dtype: types[dtype] });
    const one = once.reshape([shape[0] / repeat, ...shape.slice(1)]);
    const whole = repeat > 1 ? np.tile(one, [repeat, ...shape.slice(1).map(() => 1)]) : one;
    await jax.blockUntilReady(whole);
    return whole;
  };

  if (query.has("first")) {
    await measureFirst(async (row, arrays) => {
      const operands = Object.entries(arrays).map(([key, values]) =>
        [key, np.array(values).reshape(row.inputs[key].shape)]);
      const call = jax.jit((...given) => calls[row.op](
        Object.fromEntries(operands.map(([key], i) => [key, given[i]])), row.options));
      return await call(...operands.map(([, operand]) => operand)).data();
    });
    return;
  }

  await measure(async (row) => {
    if (row.dtype === "f16" && !device.features.has("shader-f16")) {
      return { skip: "the device has no shader-f16" };
    }
    if (row.op === "upload") {
      const values = make(row.inputs.x);
      return { wait, issue: () => np.array(values).dispose(), read: async () => {
        const all = await np.array(values).data();
        return row.check.at.map((i) => all[i]);
      } };
    }
    const heads = row.op === "attention" ? headsInside(row.options) : null;
    const names = Object.keys(row.inputs);
    const operands = [];
    for (const input of Object.values(row.inputs)) {
      operands.push(heads === null ? await array(input) : await array(
        { ...input, shape: [1, row.options.length, row.options.heads, row.options.width] },
        heads.permute(make(input))));
    }
    const free = () => operands.forEach((operand) => operand.dispose());
    if (row.op === "readback") {
      const [x] = operands;
      return { wait, free, issue: () => x.ref.data(), read: async () => {
        const all = await x.ref.data();
        return row.check.at.map((i) => all[i]);
      } };
    }
    let call;
    if (row.op === "chain") {
      call = () => {
        const [x, y] = operands;
        let value = x.ref;
        for (let i = 0; i < row.options.length; i += 2) value = nn.relu(np.add(value, y.ref));
        return value;
      };
    } else {
      const compiled = jax.jit((...given) =>
        calls[row.op](Object.fromEntries(names.map((key, i) => [key, given[i]])), row.options));
      call = () => compiled(...operands.map((operand) => operand.ref));
    }
    let issued = 0; // the first calls may compile, which needs await
    return {
      wait,
      free,
      note: row.op === "chain" ? "without jit, which makes one kernel of them" : undefined,
      // Compute the result and discard it without reading.
      issue: () => (issued++ < 3 ? call().gpuBuffer() : void call().gpuBufferSync()),
      read: async () => {
        const place = heads?.place ?? ((index) => index);
        if (row.out.reduce((a, b) => a * b, 1) < 2 ** 22) {
          const all = await call().data();
          return row.check.at.map((index) => all[place(index)]);
        }
        return await readEntries(device, await call().gpuBuffer(), row, place);
      },
    };
  });
});
