// Training steps in the library of the address: ?library=ours&names=mlp,gpt2. The peers train only
// the perceptron, 784-512-512-10 on batches of 128, with Adam.

import { main, query, post, time, workload } from "./common.mjs";
import { python, site } from "./python.mjs";
import { script } from "./arrays-common.mjs";

const library = query.get("library") ?? "ours";
const WIDTHS = [784, 512, 512, 10];
const BATCH = 128;

// Pseudo-random numbers from -1 to 1.
const noise = (count, factor = 1) => {
  let state = 12345;
  return Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return factor * (state / 2 ** 31 - 1);
  });
};
const labels = Int32Array.from({ length: BATCH }, (_, i) => (7 * i) % 10);
const layers = WIDTHS.slice(1).map((out, i) => [WIDTHS[i], out]);

const report = async (work) => post({ row: "training: mlp", ...await time(work, 1) });

const libraries = {
  async ours() {
    const { wheel } = await site();
    const pyodide = await python(["networks", "training"], wheel, workload, post);
    await pyodide.runPythonAsync(
      `import bench_training\nawait bench_training.run("${query.get("names") ?? ""}")`);
  },

  async tfjs() {
    await script("tfjs/tf.min.js");
    await script("tfjs/tf-backend-webgpu.min.js");
    const { tf } = globalThis;
    await tf.setBackend("webgpu");
    await tf.ready();
    post({ version: tf.version_core, backend: tf.getBackend() });
    const backend = tf.backend();
    const parameters = layers.map(([from, to]) => [
      tf.variable(tf.tensor(noise(from * to, from ** -0.5), [from, to])),
      tf.variable(tf.zeros([to])),
    ]);
    const x = tf.tensor(noise(BATCH * 784), [BATCH, 784]);
    const wanted = tf.oneHot(tf.tensor(labels, [BATCH], "int32"), 10);
    const optimizer = tf.train.adam(1e-3);
    const loss = () => {
      let h = x;
      parameters.forEach(([w, b], i) => {
        h = tf.add(tf.matMul(h, w), b);
        if (i < 2) h = tf.relu(h);
      });
      return tf.losses.softmaxCrossEntropy(wanted, h);
    };
    await report({
      issue: () => tf.tidy(() => { optimizer.minimize(loss); }),
      wait() {
        backend.ensureCommandEncoderReady();
        backend.endComputePassEncoder();
        backend.submitQueue();
        return backend.device.queue.onSubmittedWorkDone();
      },
    });
    post({ row: "training: mlp", loss: (await loss().data())[0] });
  },

  async jaxjs() {
    const jax = await import("./jax/index.js");
    await jax.init("webgpu");
    jax.defaultDevice("webgpu");
    const { numpy: np, nn, tree } = jax;
    post({ version: (await site()).versions.jaxjs });
    const loss = (parameters, x, wanted) => {
      let h = x;
      parameters.forEach(([w, b], i) => {
        h = np.matmul(h, w).add(b);
        if (i < 2) h = nn.relu(h);
      });
      return np.sum(nn.logSoftmax(h).mul(wanted)).mul(-1 / BATCH);
    };
    const [first, second, rate, least] = [0.9, 0.999, 1e-3, 1e-8];
    // Operands are consumed: `ref` keeps one for later.
    const step = jax.jit((parameters, means, squares, size, scale, x, wanted) => {
      const [value, slopes] = jax.valueAndGrad(loss)(tree.ref(parameters), x, wanted);
      const m = tree.map((m, g) => m.mul(first).add(g.mul(1 - first)), means, tree.ref(slopes));
      const v = tree.map(
        (v, g) => v.mul(second).add(np.square(g).mul(1 - second)), squares, slopes);
      const changed = tree.map(
        (p, m, v) => p.sub(m.div(np.sqrt(v).mul(scale.ref).add(least)).mul(size.ref)),
        parameters, tree.ref(m), tree.ref(v));
      size.dispose();
      scale.dispose();
      return [changed, m, v, value];
    });
    const array = (data, shape) => np.array(data).reshape(shape);
    const made = () => layers.map(([from, to]) =>
      [array(noise(from * to, from ** -0.5), [from, to]), np.zeros([to])]);
    let parameters = made();
    let means = tree.map((p) => np.zeros(p.shape), made());
    let squares = tree.map((p) => np.zeros(p.shape), made());
    const x = array(noise(BATCH * 784), [BATCH, 784]);
    const wanted = nn.oneHot(np.array(labels), 10);
    let steps = 0;
    /** @type {any} the loss */
    let last = null;
    const device = jax.getWebGPUDevice();
    await report({
      issue() {
        steps += 1;
        last?.dispose();
        const size = rate / (1 - first ** steps);
        const scale = 1 / Math.sqrt(1 - second ** steps);
        [parameters, means, squares, last] = step(
          parameters, means, squares, np.array(size), np.array(scale), x.ref, wanted.ref);
      },
      wait: () => device.queue.onSubmittedWorkDone(),
    });
    post({ row: "training: mlp", loss: Array.from(await last.data())[0] });
  },
};

await main(library, libraries[library]);
