// The end of the device, lost or closed, which ends all waits for the GPU.
import { ringWords } from "./ring.js";

const LONGEST_MS = 10_000; // maximum between a rejection by a loss and its report

/** @type {Loss | null} */
export let lost = null;
export let closed = false;
/** @type {Set<(value: void) => void>} resolvers of waits for the GPU */
const wakers = new Set();

device.lost.then((info) => {
  if (closed) return;
  ringWords().fill(1, -1);
  end({ kind: "lost", op: "device", message: info.message || info.reason || "unknown" });
});

// Ends all waits, since the GPU sends no more results.
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
    promise.catch(() => {}); // ignored
    return Promise.resolve();
  }
  return new Promise((/** @type {(value: T | void) => void} */ resolve, reject) => {
    wakers.add(resolve);
    promise.then(resolve, reject).finally(() => wakers.delete(resolve));
  });
}

// Waits until a loss that rejected a promise is known as a loss. WebGPU reports it some time later.
// If the device maps memory in the meantime, there is no loss.
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
