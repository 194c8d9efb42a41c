// The programs in TensorFlow.js 4.22 on WebGPU. It runs one kernel for each operation. Intermediate
// values live until their tidy() ends, so a loop calls tidy() in each step.

import { measure, post } from "./common.mjs";
import { make } from "./data.mjs";
import { grid, padded, picked, script } from "./arrays-common.mjs";

export async function work() {
  await script("tfjs/tf-core.min.js");
  await script("tfjs/tf-backend-webgpu.min.js");
  const { tf } = globalThis;
  await tf.setBackend("webgpu");
  await tf.ready();
  const backend = tf.backend();
  post({ version: tf.version_core, backend: tf.getBackend() });
  const wait = () => {
    backend.ensureCommandEncoderReady();
    backend.endComputePassEncoder();
    backend.submitQueue();
    return backend.device.queue.onSubmittedWorkDone();
  };

  const normalBelow = (x) => {
    const k = tf.div(1, tf.add(1, tf.mul(0.2316419, tf.abs(x))));
    let series = tf.mul(k, 1.330274429);
    for (const factor of [-1.821255978, 1.781477937, -0.356563782, 0.31938153]) {
      series = tf.mul(k, tf.add(factor, series));
    }
    const tail = tf.mul(tf.mul(0.3989422804, tf.exp(tf.mul(tf.square(x), -0.5))), series);
    return tf.where(tf.greater(x, 0), tf.sub(1, tail), tail);
  };
  // Steps of a loop, in which new values replace and free the previous ones.
  const loop = (steps, first, step) => {
    let values = first;
    for (let i = 0; i < steps; i++) {
      const before = values;
      values = tf.tidy(() => step(before));
      if (i) tf.dispose(before);
    }
    return values;
  };
  const pulled = (places, mass, softening, start, count) => tf.tidy(() => {
    const away = places.map((place) =>
      tf.sub(tf.expandDims(place, 0), tf.expandDims(tf.slice(place, start, count), 1)));
    const squared = away.map((d) => tf.square(d)).reduce((a, b) => tf.add(a, b));
    const soft = tf.add(squared, softening);
    const weight = tf.div(mass, tf.mul(soft, tf.sqrt(soft)));
    return away.map((d) => tf.sum(tf.mul(d, weight), 1));
  });
  const turned = (x) => {
    const [re, im] = [tf.real(x), tf.imag(x)];
    return tf.complex(tf.transpose(re), tf.transpose(im));
  };

  const programs = {
    black_scholes({ spot, strike, years }, { rate, volatility }) {
      const spread = tf.mul(volatility, tf.sqrt(years));
      const drift = tf.mul(rate + volatility ** 2 / 2, years);
      const first = tf.div(tf.add(tf.log(tf.div(spot, strike)), drift), spread);
      const paid = tf.mul(strike, tf.exp(tf.mul(-rate, years)));
      const call = tf.sub(
        tf.mul(spot, normalBelow(first)), tf.mul(paid, normalBelow(tf.sub(first, spread))));
      return [call, tf.add(tf.sub(call, spot), paid)];
    },
    softmax({ x }) {
      const powers = tf.exp(tf.sub(x, tf.max(x, 1, true)));
      return tf.div(powers, tf.sum(powers, 1, true));
    },
    layer_norm({ x, gamma, beta }) {
      const off = tf.sub(x, tf.mean(x, 1, true));
      const variance = tf.mean(tf.square(off), 1, true);
      return tf.add(tf.mul(tf.div(off, tf.sqrt(tf.add(variance, 1e-5))), gamma), beta);
    },
    cumsum: ({ x }) => tf.cumsum(x),
    take: ({ x, at }) => tf.gather(x, at),
    scatter: ({ x, at }) => tf.scatterND(tf.expandDims(at, 1), x, x.shape),
    histogram({ x }, { bins }) {
      const bin = tf.cast(tf.floor(tf.mul(tf.add(x, 0.5), bins)), "int32");
      return tf.bincount(bin, [], bins);
    },
    fft: ({ re, im }) => {
      const found = turned(tf.fft(turned(tf.fft(tf.complex(re, im)))));
      return [tf.real(found), tf.imag(found)];
    },
    matmul_of_views({ x, y }) {
      const turnedX = tf.transpose(x);
      const left = tf.stridedSlice(turnedX, [0, 0], turnedX.shape, [2, 1]);
      return tf.matMul(left, tf.stridedSlice(y, [0, 0], y.shape, [1, 2]));
    },
    kmeans({ x, centres }) {
      const products = tf.matMul(x, centres, false, true);
      const distance = tf.sub(tf.sum(tf.square(centres), 1), tf.mul(2, products));
      const member = tf.oneHot(tf.argMin(distance, 1), centres.shape[0], 1, 0, "float32");
      return tf.div(tf.matMul(member, x, true), tf.expandDims(tf.sum(member, 0), 1));
    },
    mandelbrot({ real, imag }, { steps }) {
      const zeros = tf.zeros([imag.shape[0], real.shape[1]]);
      const [x, y, count] = loop(steps, [zeros, zeros, zeros], ([x, y, count]) => {
        const nextX = tf.add(tf.sub(tf.square(x), tf.square(y)), real);
        const nextY = tf.add(tf.mul(2, tf.mul(x, y)), imag);
        const near = tf.less(tf.add(tf.square(nextX), tf.square(nextY)), 4);
        return [nextX, nextY, tf.add(count, tf.cast(near, "float32"))];
      });
      tf.dispose([x, y, zeros]);
      return count;
    },
    heat({ u }, { k, steps }) {
      const [h, w] = u.shape;
      return loop(steps, u, (u) => {
        const part = (row, column) => tf.slice(u, [row, column], [h - 2, w - 2]);
        const middle = part(1, 1);
        const around = tf.addN([part(0, 1), part(2, 1), part(1, 0), part(1, 2)]);
        const inside = tf.add(middle, tf.mul(k, tf.sub(around, tf.mul(4, middle))));
        return tf.pad(inside, [[1, 1], [1, 1]]);
      });
    },
    nbody({ x, y, z, mass }, { softening }) {
      const n = x.shape[0];
      const rows = Math.min(n, 1024); // for all bodies at once, each intermediate value takes 1 GiB
      const parts = [];
      for (let i = 0; i < n; i += rows) {
        parts.push(pulled([x, y, z], mass, softening, i, Math.min(rows, n - i)));
      }
      return [0, 1, 2].map((axis) => tf.concat(parts.map((part) => part[axis])));
    },
  };
  // Asynchronous operations: the CPU reads the mask and computes the indices.
  const mask = async ({ x }) => {
    const above = tf.greater(x, 0);
    const result = await tf.booleanMaskAsync(x, above);
    above.dispose();
    return result;
  };
  const skips = {
    sort: "no sort: topk gives the k largest, and takes time by k",
    argsort: "no argsort",
  };
  const notes = { mask: "the mask is read by the CPU", fft: "of quadratic cost", nbody: "by 1,024 rows" };
  const prepared = {
    mandelbrot(row) {
      const { real, imag } = grid(row);
      return { real: tf.tensor(real, [1, real.length]), imag: tf.tensor(imag, [imag.length, 1]) };
    },
    heat: (row) => ({ u: tf.tensor(padded(row), row.out) }),
  };

  await measure(async (row) => {
    if (row.op in skips) return { skip: skips[row.op] };
    const tensors = prepared[row.op]?.(row) ?? Object.fromEntries(
      Object.entries(row.inputs).map(([key, input]) =>
        [key, tf.tensor(make(input), input.shape, input.dtype === "i32" ? "int32" : "float32")]));
    // Uploads finish before the measurement.
    for (const tensor of Object.values(tensors)) backend.uploadToGPU(tensor.dataId);
    const call = row.op === "mask"
      ? () => mask(tensors)
      : () => tf.tidy(() => programs[row.op](tensors, row.options));
    const issue = row.op === "mask"
      ? async () => tf.dispose(await call())
      : () => tf.dispose(call());
    return {
      note: notes[row.op],
      issue,
      wait,
      read: async () => {
        const results = [await call()].flat();
        const parts = [];
        for (const result of results) parts.push(await result.data());
        tf.dispose(results);
        return picked(row, parts);
      },
      free: async () => {
        await wait();
        tf.dispose(tensors);
      },
    };
  });
}
