// What the GPU reported, each with its number. An error is told to every wait that had begun when
// it was first told: a read that sees one leaves its array alone, so it must not end without it.
// WebGPU reports errors asynchronously, so each is kept under the op's name until Python asks.
import { lost, lostSoon, unlessLost } from "./loss.js";

const MOST_ERRORS = 64; // that nobody was told yet; further ones are dropped

/** @type {{kind: string, op: string, message: string, number: number}[]} */
export let errors = [];
let reported = 0; // errors so far
let told = 0; // the number of the last one that somebody was told
/** @type {Map<number, number>} ticket -> what told was when the wait began */
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

// Runs work inside error scopes and reports what they catch as op's errors.
/**
 * @template T
 * @param {string} op
 * @param {() => T} work
 * @param {(error: GPUError) => void | Promise<void>} [onError] of validation; in place of a report
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
    }, () => {}), // popErrorScope rejects only when the device is lost, which lost tells
  );
  return result;
}

// ---- waits ----

/** @param {number} ticket */
export function beginWait(ticket) {
  if (!waits.has(ticket)) waits.set(ticket, told);
}

// For a wait that is given up.
/** @param {number} ticket */
export function dropWait(ticket) {
  waits.delete(ticket);
  forgetErrors();
}

// Whether a wait has something to be told.
/** @param {number} ticket */
export function hasErrors(ticket) {
  const since = waits.get(ticket);
  return since !== undefined && reported > since;
}

// Ends a wait: the errors that it is to be told as JSON, or "" when there are none.
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

// Keeps the errors that somebody still has to be told.
function forgetErrors() {
  const since = Math.min(told, ...waits.values());
  errors = errors.filter(({ number }) => number > since);
}

// Waits until no more errors can come of what was done so far.
export async function settle() {
  while (pending.size > 0 && lost === null) {
    await unlessLost(Promise.all(pending));
  }
  // Firefox reports errors of a device that is gone, until it tells of the loss.
  if (reported > told && lost === null) await lostSoon();
}
