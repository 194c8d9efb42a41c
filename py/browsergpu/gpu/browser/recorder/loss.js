// The end of the device, lost or closed: nobody waits for the GPU then.
import { ringWords } from "./ring.js";

const LONGEST_MS = 10_000; // between what a loss made reject and its news

/** @type {Loss | null} */
export let lost = null;
export let closed = false;
/** @type {Set<(value: void) => void>} who waits for the GPU, and must not when it is gone */
const wakers = new Set();

device.lost.then((info) => {
  if (closed) return;
  ringWords().fill(1, -1);
  end({ kind: "lost", op: "device", message: info.message || info.reason || "unknown" });
});

// Nothing comes from the GPU any more.
/** @param {Loss} why */
function end(why) {
  lost ??= why;
  for (const wake of wakers) wake();
  wakers.clear();
}

export function endByClosing() {
  closed = true;
  end({ kind: "closed", op: "device", message: "" });
}

/** @param {() => void} work */
export function atTheEnd(work) {
  wakers.add(work);
}

// Settles as the promise does, or resolves when the device is lost. (Promise.race with one
// long-lived promise would leave a reaction on it for each wait.)
/**
 * @template T
 * @param {Promise<T>} promise
 * @returns {Promise<T | void>}
 */
export function unlessLost(promise) {
  if (lost !== null) {
    promise.catch(() => {}); // nobody is told of it
    return Promise.resolve();
  }
  return new Promise((/** @type {(value: T | void) => void} */ resolve, reject) => {
    wakers.add(resolve);
    promise.then(resolve, reject).finally(() => wakers.delete(resolve));
  });
}

// Waits until a loss that made a promise reject is known as a loss. WebGPU tells it later, at no
// certain time: memory that the device maps meanwhile shows that there is none.
export async function lostSoon() {
  if (lost !== null) return;
  const probe = device.createBuffer({ size: 4, usage: GPUBufferUsage.MAP_READ, label: "probe" });
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  await unlessLost(new Promise((/** @type {(value: void) => void} */ done) => {
    probe.mapAsync(GPUMapMode.READ).then(() => done(), () => {}); // rejected by the loss, too
    timer = setTimeout(done, LONGEST_MS);
  }));
  clearTimeout(timer);
  probe.destroy();
}
