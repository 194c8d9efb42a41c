// Empty submits, which make a browser check whether the GPU is done. Firefox checks at each submit,
// and otherwise every 100 ms, so each wait would take up to 100 ms. Chromium reports at once.
//
// Waits are nudged until the browser has shown that it needs no nudges: it reported an idle queue
// at once, twice in a row. A single quick report may come at the end of Firefox's 100 ms.
import { lost } from "./loss.js";

const EVERY = 1; // ms; timers set by timers take 4 ms after the first few
const AT_ONCE = 20; // ms, for a machine with busy cores
const ANSWERS = 2; // in a row

let tellsAtOnce = false;
let isTrying = false;
let unsettled = 0; // promises
let timer = 0; // of the next nudge
let submits = 0;

// Makes a promise of the queue settle soon after the GPU is done. Returns the same promise.
/** @template T @param {Promise<T>} promise @returns {Promise<T>} */
export function nudged(promise) {
  if (tellsAtOnce) return promise;
  unsettled += 1;
  clearTimeout(timer); // a new timer starts with short delays again
  timer = setTimeout(nudge, EVERY);
  promise.then(noteSettled, noteSettled);
  return promise;
}

function noteSettled() {
  unsettled -= 1;
  if (unsettled === 0) clearTimeout(timer);
}

function nudge() {
  if (tellsAtOnce || lost !== null) return;
  submitNothing();
  timer = setTimeout(nudge, EVERY);
}

export function submitNothing() {
  noteSubmit();
  device.queue.submit([]);
}

export function noteSubmit() {
  submits += 1;
}

// Must be called when the GPU is idle.
export async function askIfTold() {
  if (tellsAtOnce || isTrying) return;
  isTrying = true;
  try {
    let answers = 0;
    while (answers < ANSWERS && await isToldAtOnce()) answers += 1;
    tellsAtOnce = answers === ANSWERS;
  } catch {
    // The device is lost, so there are no more waits.
  }
  isTrying = false;
}

// Whether an idle queue is reported at once. A submit in the meantime would hide Firefox's delay.
async function isToldAtOnce() {
  const before = submits;
  const begun = performance.now();
  await device.queue.onSubmittedWorkDone();
  return submits === before && performance.now() - begun < AT_ONCE;
}
