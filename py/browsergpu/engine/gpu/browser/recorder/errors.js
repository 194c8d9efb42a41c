// Numbered errors that the GPU reported. Every wait that had begun when an error was first raised
// raises it too: a read that fails leaves its array unchanged, so it must not end without the
// error. WebGPU reports errors asynchronously, so each is kept under the operation's name until
// Python asks.
import { lost, lostSoon, unlessLost } from "./loss.js";

const MOST_ERRORS = 64; // maximum of errors not raised yet; further ones are dropped

/** @type {{kind: string, op: string, message: string, number: number}[]} */
export let errors = [];
let reported = 0; // errors so far
let told = 0; // number of the last raised error
/** @type {Map<number, number>} ticket -> value of told when the wait began */
const waits = new Map();
/** @type {Set<Promise<void>>} promises that may still add to errors */
export const pending = new Set();

device.addEventListener("uncapturederror", (event) => {
  const error = event.error;
  const kind = error instanceof GPUOutOfMemoryError ? "out-of-memory" : "validation";
  report(kind, "device", error.message);
  event.preventDefault();
});

/** @param {Complaint} what */
export function report(...[kind, op, message, extra]) {
  if (reported - told >= MOST_ERRORS) return;
  errors.push({ kind, op, message, number: ++reported, ...extra });
}

/** @param {Promise<void>} promise */
export function track(promise) {
  const settled = promise
    .catch((error) => report("validation", "recorder", String(error)))
    .finally(() => pending.delete(settled));
  pending.add(settled);
}

// Runs work inside error scopes and reports caught errors under the name op.
/**
 * @template T
 * @param {string} op
 * @param {() => T} work
 * @param {(error: GPUError) => void | Promise<void>} [onError] replaces a validation report
 */
export function scoped(op, work, onError) {
  device.pushErrorScope("validation");
  device.pushErrorScope("out-of-memory");
  const result = work();
  const memory = device.popErrorScope();
  const validation = device.popErrorScope();
  track(
    Promise.all([memory, validation]).then(async ([memoryError, validationError]) => {
      if (memoryError) report("out-of-memory", op, memoryError.message);
      if (!validationError) return;
      if (onError) await onError(validationError);
      else report("validation", op, validationError.message);
    }, () => {}), // popErrorScope rejects only if the device is lost, see `lost`
  );
  return result;
}

// ---- waits ----

/** @param {number} ticket */
export function beginWait(ticket) {
  if (!waits.has(ticket)) waits.set(ticket, told);
}

// Abandons a wait.
/** @param {number} ticket */
export function dropWait(ticket) {
  waits.delete(ticket);
  forgetErrors();
}

// Whether a wait has errors to raise.
/** @param {number} ticket */
export function hasErrors(ticket) {
  const since = waits.get(ticket);
  return since !== undefined && reported > since;
}

// Ends a wait and returns its errors as JSON, or "" if there are none.
/** @param {number} ticket */
export function takeErrors(ticket) {
  const since = waits.get(ticket) ?? told;
  waits.delete(ticket);
  if (lost !== null) return JSON.stringify([lost]);
  const news = errors.filter(({ number }) => number > since);
  const text = news.length > 0 ? JSON.stringify(news) : "";
  told = reported;
  forgetErrors();
  return text;
}

// Drops the errors that all waits have raised.
function forgetErrors() {
  const since = Math.min(told, ...waits.values());
  errors = errors.filter(({ number }) => number > since);
}

// Waits until all errors of past work are known.
export async function settle() {
  while (pending.size > 0 && lost === null) {
    await unlessLost(Promise.all(pending));
  }
  // Firefox reports errors of a lost device before it reports the loss.
  if (reported > told && lost === null) await lostSoon();
}
