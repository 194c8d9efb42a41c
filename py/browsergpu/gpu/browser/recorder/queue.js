// The device's queue, and how far the GPU is known to be with what was sent to it.
import { lost, lostSoon, unlessLost } from "./loss.js";
import { askIfTold, noteSubmit, nudged } from "./nudges.js";
import { noteDone } from "./pace.js";

export const { queue } = device;
let submitted = 0; // dispatches sent to the GPU
let finished = 0; // of them, those known to have ended
let isWatching = false;

askIfTold();

/** @param {number} dispatches */
export function noteSubmitted(dispatches) {
  noteSubmit();
  submitted += dispatches;
  if (!isWatching) watch();
}

// Asks for one submit's end at a time: a promise for each would cost more than the dispatches.
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

// Resolves when the GPU has done what was sent to it.
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
