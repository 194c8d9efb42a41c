// TensorFlow.js 4.22 on WebGPU. It has no float16, no fused attention or layer normalisation, and
// its convolutions are NHWC.

import { main, measure, measureFirst, post, query, readEntries, upload } from "./common.mjs";
import { make } from "./data.mjs";

const { tf } = globalThis;

await main("tfjs", async () => {
  await tf.setBackend("webgpu");
  await tf.ready();
  const backend = tf.backend();
  const { device } = backend;
  post({ version: tf.version_core, backend: tf.getBackend() });
  const wait = () => {
    backend.ensureCommandEncoderReady();
    backend.endComputePassEncoder();
    backend.submitQueue();
    return device.queue.onSubmittedWorkDone();
  };
  const external = (buffer, shape) => tf.tensor({ buffer, zeroCopy: true }, shape, "float32");

  const layerNorm = (x, gamma, beta) => {
    const { mean, variance } = tf.moments(x, -1, true);
    const normal = tf.mul(tf.sub(x, mean), tf.rsqrt(tf.add(variance, 1e-5)));
    return tf.add(tf.mul(normal, gamma), beta);
  };
  const attention = (q, k, v, mask, width) => {
    const scores = tf.mul(tf.matMul(q, k, false, true), 1 / Math.sqrt(width));
    return tf.matMul(tf.softmax(mask ? tf.add(scores, mask) : scores, -1), v);
  };
  const repeated = (x, y, length) => {
    let value = x;
    for (let i = 0; i < length; i += 2) value = tf.relu(tf.add(value, y));
    return value;
  };
  // -1e9 above the diagonal.
  const causal = (n) => tf.tidy(() => {
    const at = tf.range(0, n);
    return tf.mul(tf.cast(tf.less(tf.expandDims(at, 1), tf.expandDims(at, 0)), "float32"), -1e9);
  });

  const calls = {
    matmul: ({ a, b }, o) => tf.matMul(a, b, o.transpose_a ?? false, o.transpose_b ?? false),
    conv2d: ({ x, w }, o) => tf.conv2d(x, w, o.stride, o.padding),
    softmax: ({ x }, o) =>
      o.axis === 0 ? tf.transpose(tf.softmax(tf.transpose(x), -1)) : tf.softmax(x, -1),
    layer_norm: ({ x, gamma, beta }) => layerNorm(x, gamma, beta),
    sum: ({ x }, o) => tf.sum(x, o.axis),
    variance: ({ x }, o) => tf.moments(x, o.axis).variance,
    relu: ({ x }) => tf.relu(x),
    add: ({ x, y }) => tf.add(x, y),
    transpose: ({ x }) => tf.transpose(x),
    attention: ({ q, k, v, mask }, o) => attention(q, k, v, mask, o.width),
    chain: ({ x, y }, o) => repeated(x, y, o.length),
  };
  const notes = {
    conv2d: "NHWC",
    layer_norm: "of its parts",
    variance: "of its parts",
    attention: "of its parts",
  };

  // Converts an index of [1, F, P, Q] to [1, P, Q, F].
  const channelsLast = ([, f, p, q]) => (index) =>
    (index % (p * q)) * f + (Math.floor(index / (p * q)) % f);
  // Converts NCHW images and FCRS filters to tfjs's layouts with its own transpose.
  const layouts = { x: [0, 2, 3, 1], w: [2, 3, 1, 0] };

  const transfers = {
    upload: (array) => ({
      issue() {
        const tensor = tf.tensor1d(array);
        backend.uploadToGPU(tensor.dataId);
        tensor.dispose();
      },
      result: () => tf.tensor1d(array),
    }),
    readback: (array) => {
      const buffer = upload(device, { repeat: 1 }, array);
      // A tensor caches its values after a read, so each read uses a new one.
      return {
        async issue() {
          const tensor = external(buffer, [array.length]);
          await tensor.data();
          tensor.dispose();
        },
        result: () => external(buffer, [array.length]),
      };
    },
  };

  if (query.has("first")) {
    await measureFirst(async (row, arrays) => {
      const tensors = Object.fromEntries(Object.entries(arrays).map(([key, array]) => {
        const { shape } = row.inputs[key];
        const tensor = tf.tensor(array, shape);
        return [key, row.op === "conv2d" ? tf.transpose(tensor, layouts[key]) : tensor];
      }));
      const result = tf.tidy(() => calls[row.op](tensors, row.options));
      const ordered = row.op === "conv2d" ? tf.transpose(result, [0, 3, 1, 2]) : result;
      return await ordered.data();
    });
    return;
  }

  await measure(async (row) => {
    if (row.dtype === "f16") return { skip: "no float16" };
    if (row.op in transfers) {
      const { issue, result } = transfers[row.op](make(row.inputs.x));
      return { issue, wait, read: async () => {
        const all = await result().data();
        return row.check.at.map((i) => all[i]);
      } };
    }
    const tensors = {};
    const buffers = [];
    for (const [key, input] of Object.entries(row.inputs)) {
      buffers.push(upload(device, input, make(input)));
      tensors[key] = external(buffers.at(-1), input.shape);
      if (row.op === "conv2d") tensors[key] = tf.transpose(tensors[key], layouts[key]);
      if (row.op === "attention") tensors[key] = tf.reshape(tensors[key], input.shape.slice(1));
    }
    if (row.options.causal) tensors.mask = causal(row.options.length);
    const call = () => tf.tidy(() => calls[row.op](tensors, row.options));
    return {
      note: notes[row.op],
      issue: () => call().dispose(),
      wait,
      read: async () => {
        const result = call();
        await wait();
        const { resource } = backend.tensorMap.get(result.dataId);
        const place = row.op === "conv2d" ? channelsLast(row.out) : undefined;
        const entries = await readEntries(device, resource, row, place);
        result.dispose();
        return entries;
      },
      free: async () => {
        await wait();
        tf.disposeVariables();
        for (const tensor of Object.values(tensors)) tensor.dispose();
        for (const buffer of buffers) buffer.destroy();
      },
    };
  });
});
