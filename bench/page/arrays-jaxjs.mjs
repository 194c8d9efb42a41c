// The programs in jax-js 0.1 on WebGPU, compiled with jit. jax-js has no loops within jit, so one
// or ten steps of a loop are compiled, as on jax-js's own pages. Ten steps of the heat equation
// would give one kernel that computes all neighbours again, 5^10 for each point.

import { measure, post } from "./common.mjs";
import { make } from "./data.mjs";
import { grid, padded, picked } from "./arrays-common.mjs";
import * as jax from "./jax/index.js";

export async function work() {
  await jax.init("webgpu");
  jax.defaultDevice("webgpu");
  const { numpy: np } = jax;
  const device = jax.getWebGPUDevice();
  post({ version: (await (await fetch("site.json")).json()).versions.jaxjs });
  const wait = () => device.queue.onSubmittedWorkDone();
  const across = { keepdims: true };

  // Operands are consumed: `ref` keeps one for later.
  const normalBelow = (x) => {
    const k = np.reciprocal(np.abs(x.ref).mul(0.2316419).add(1));
    let series = k.ref.mul(1.330274429);
    for (const factor of [-1.821255978, 1.781477937, -0.356563782]) {
      series = k.ref.mul(series.add(factor));
    }
    series = k.mul(series.add(0.31938153));
    const tail = np.exp(np.square(x.ref).mul(-0.5)).mul(0.3989422804).mul(series);
    return np.where(x.greater(0), tail.ref.neg().add(1), tail);
  };
  const programs = {
    black_scholes({ spot, strike, years }, { rate, volatility }) {
      const spread = np.sqrt(years.ref).mul(volatility);
      const drift = years.ref.mul(rate + volatility ** 2 / 2);
      const first = np.log(spot.ref.div(strike.ref)).add(drift).div(spread.ref);
      const paid = strike.mul(np.exp(years.mul(-rate)));
      const call = spot.ref.mul(normalBelow(first.ref))
        .sub(paid.ref.mul(normalBelow(first.sub(spread))));
      return [call.ref, call.sub(spot).add(paid)];
    },
    softmax({ x }) {
      const powers = np.exp(x.ref.sub(np.max(x, 1, across)));
      return powers.ref.div(np.sum(powers, 1, across));
    },
    layer_norm({ x, gamma, beta }) {
      const off = x.ref.sub(np.mean(x, 1, across));
      const variance = np.mean(np.square(off.ref), 1, across);
      return off.div(np.sqrt(variance.add(1e-5))).mul(gamma).add(beta);
    },
    cumsum: ({ x }) => np.cumsum(x),
    take: ({ x, at }) => np.take(x, at),
    sort: ({ x }) => np.sort(x),
    argsort: ({ x }) => np.argsort(x),
    fft({ re, im }) {
      const { real, imag } = np.fft.fft2({ real: re, imag: im });
      return [real, imag];
    },
    matmul_of_views({ x, y }) {
      const [k, m] = x.shape;
      const [, n] = y.shape;
      const left = np.transpose(x).reshape([m / 2, 2, k]).slice([], 0);
      return np.matmul(left, y.reshape([k, n / 2, 2]).slice([], [], 0));
    },
    kmeans({ x, centres }) {
      const [n] = x.shape;
      const [k] = centres.shape;
      const squares = np.sum(np.square(centres.ref), 1);
      const distance = squares.sub(np.matmul(x.ref, np.transpose(centres)).mul(2));
      const labels = np.argmin(distance, 1).reshape([n, 1]);
      const member = np.equal(labels, np.arange(k)).astype(np.float32);
      return np.matmul(np.transpose(member.ref), x).div(np.sum(member, 0).reshape([k, 1]));
    },
    nbody({ x, y, z, mass }, { softening }) {
      const [n] = x.shape;
      const away = [x, y, z].map((place) =>
        place.ref.reshape([1, n]).sub(place.reshape([n, 1])));
      const squared = away.map((d) => np.square(d.ref)).reduce((a, b) => a.add(b)).add(softening);
      const weight = mass.div(squared.ref.mul(np.sqrt(squared)));
      const pulled = away.map((d) => np.sum(d.mul(weight.ref), 1));
      weight.dispose();
      return pulled;
    },
  };
  const mandelbrotSteps = (steps) => (x, y, count, real, imag) => {
    for (let i = 0; i < steps; i++) {
      const nextX = np.square(x.ref).sub(np.square(y.ref)).add(real.ref);
      y = x.mul(y).mul(2).add(imag.ref);
      x = nextX;
      const near = np.square(x.ref).add(np.square(y.ref)).less(4);
      count = count.add(near.astype(np.float32));
    }
    real.dispose();
    imag.dispose();
    return [x, y, count];
  };
  const heatStep = (k, [h, w]) => (u) => {
    const part = (row, column) => u.ref.slice([row, row + h - 2], [column, column + w - 2]);
    const middle = part(1, 1);
    const around = part(0, 1).add(part(2, 1)).add(part(1, 0)).add(part(1, 2));
    const inside = middle.ref.add(around.sub(middle.mul(4)).mul(k));
    u.dispose();
    return np.pad(inside, [[1, 1], [1, 1]]);
  };
  const together = 10;
  const loops = {
    mandelbrot({ real, imag }, { steps }, way) {
      const each = way === "a step" ? 1 : together;
      const call = jax.jit(mandelbrotSteps(each));
      const shape = [imag.shape[0], real.shape[1]];
      return () => {
        let values = [np.zeros(shape), np.zeros(shape), np.zeros(shape)];
        for (let i = 0; i < steps; i += each) values = call(...values, real.ref, imag.ref);
        const [x, y, count] = values;
        x.dispose();
        y.dispose();
        return count;
      };
    },
    heat({ u }, { k, steps }) {
      const call = jax.jit(heatStep(k, u.shape));
      return () => {
        let value = u.ref;
        for (let i = 0; i < steps; i++) value = call(value);
        return value;
      };
    },
  };
  const skips = {
    mask: "no compress or nonzero: shapes are known ahead",
    scatter: "no assignment by indices",
    histogram: "no histogram, bincount or searchsorted",
  };
  const notes = { matmul_of_views: "no slices with steps: by a reshape" };
  const prepared = {
    mandelbrot(row) {
      const { real, imag } = grid(row);
      return { real: np.array(real).reshape([1, -1]), imag: np.array(imag).reshape([-1, 1]) };
    },
    heat: (row) => ({ u: np.array(padded(row)).reshape(row.out) }),
  };

  await measure(async (row, way) => {
    if (row.op in skips) return { skip: skips[row.op] };
    const arrays = prepared[row.op]?.(row) ?? Object.fromEntries(
      Object.entries(row.inputs).map(([key, input]) => {
        const dtype = input.dtype === "i32" ? np.int32 : np.float32;
        return [key, np.array(make(input), { dtype }).reshape(input.shape)];
      }));
    await jax.blockUntilReady(Object.values(arrays));
    let call;
    if (row.op in loops) {
      call = loops[row.op](arrays, row.options, way);
    } else {
      const names = Object.keys(arrays);
      const compiled = jax.jit((...given) =>
        programs[row.op](Object.fromEntries(names.map((key, i) => [key, given[i]])), row.options));
      call = () => compiled(...Object.values(arrays).map((array) => array.ref));
    }
    let issued = 0; // the first calls may compile, which needs await
    return {
      wait,
      note: notes[row.op],
      // Compute the results and discard them without reading.
      issue() {
        const results = [call()].flat();
        if (issued++ < 3) return Promise.all(results.map((result) => result.gpuBuffer()));
        for (const result of results) result.gpuBufferSync();
      },
      read: async () => {
        const parts = [];
        for (const result of [call()].flat()) parts.push(await result.data());
        return picked(row, parts);
      },
      free: () => Object.values(arrays).forEach((array) => array.dispose()),
    };
  }, (row) => (row.op === "mandelbrot" ? ["a step", `${together} steps`] : [null]));
}
