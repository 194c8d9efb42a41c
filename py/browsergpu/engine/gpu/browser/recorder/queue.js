// The device's queue, and how much of the submitted work is known to be finished.
import { lost, lostSoon, unlessLost } from "./loss.js";
import { askIfTold, noteSubmit, nudged } from "./nudges.js";
import { noteDone } from "./pace.js";

export const { queue } = device;
let submitted = 0; // dispatches sent to the GPU
let finished = 0; // dispatches known to be finished
let isWatching = false;

askIfTold();

/** @param {number} dispatches */
export function noteSubmitted(dispatches) {
  noteSubmit();
  submitted += dispatches;
  if (!isWatching) watch();
}

// Waits for one submit at a time: a promise for each would cost more than the dispatches.
async function watch() {
  isWatching = true;
  while (finished < submitted && lost === null) {
    const until = submitted;
    await nudged(queue.onSubmittedWorkDone()).catch(() => {});
    noteFinished(until);
  }
  isWatching = false;
}

/** @param {number} until */
function noteFinished(until) {
  finished = Math.max(finished, until); // another wait may know of more
  if (finished < submitted) return;
  noteDone();
  askIfTold();
}

// Resolves when the GPU has finished the submitted work.
export async function submittedWorkDone() {
  if (lost !== null) return;
  const until = submitted;
  try {
    await unlessLost(nudged(queue.onSubmittedWorkDone()));
    noteFinished(until);
  } catch {
    await lostSoon();
  }
}

export function unfinishedDispatches() {
  return submitted - finished;
}
