// GPU times of single programs, without waiting: a time is returned by the first request after it
// is known.
import { beginTiming, endTiming, isTimed } from "./clock.js";
import { endPass } from "./encoding.js";
import { track } from "./errors.js";
import { inOrder } from "./order.js";
import { readQueries } from "./queries.js";

let isSpanOpen = false;
/** @type {[number: number, ns: number][]} */
let knownSpans = [];

// If timing is in progress, the span has no time of its own.
export function startSpan() {
  inOrder(undefined, () => {
    if (isTimed()) return;
    endPass();
    beginTiming();
    isSpanOpen = true;
  });
}

/** @param {number} number */
export function endSpan(number) {
  inOrder(undefined, () => track(readSpan(number)));
}

/** @param {number} number */
async function readSpan(number) {
  const span = isSpanOpen ? endTiming() : null;
  isSpanOpen = false;
  if (span?.begun) {
    const [[begin, end] = [0, -1]] = await readQueries(span.queries, 2);
    knownSpans.push([number, end - begin]);
  } else {
    span?.queries.destroy();
    knownSpans.push([number, -1]);
  }
}

// Returns the times that were not returned yet, as JSON.
export function takeSpans() {
  const told = JSON.stringify(knownSpans);
  knownSpans = [];
  return told;
}
