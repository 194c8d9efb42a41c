// What is being timed: the GPU's time from one call to another (timing.js), or each dispatch by
// itself (profile.js). Encoding asks here how a pass is to be timed.

const MOST_QUERIES = 4096; // in a set, as WebGPU allows; two a dispatch

/** @type {Timing | null} */
let timing = null;
/** @type {Profile | null} */
export let profile = null;

/** @param {number} count */
function newQueries(count) {
  return device.createQuerySet({ type: "timestamp", count, label: "times" });
}

export function beginTiming() {
  timing = { queries: newQueries(2), begun: false };
}

// Ends it; what it has found by then.
export function endTiming() {
  const ended = /** @type {Timing} */ (timing);
  timing = null;
  return ended;
}

// Whether something is: to wait in between would be timed, too.
export function isTimed() {
  return timing !== null || profile !== null;
}

// How the next pass is to be timed, where not each dispatch is.
/** @returns {GPUComputePassDescriptor | undefined} */
export function passTiming() {
  if (timing === null) return undefined;
  const first = timing.begun ? {} : { beginningOfPassWriteIndex: 0 };
  timing.begun = true;
  return { timestampWrites: { querySet: timing.queries, ...first, endOfPassWriteIndex: 1 } };
}

/** @param {boolean} timestamps */
export function beginProfile(timestamps) {
  profile = { timestamps, dispatches: 0, sets: [], spans: new Map(), lastEnd: 0 };
}

// Ends it; what it has found by then.
export function endProfile() {
  const ended = /** @type {Profile} */ (profile);
  profile = null;
  return ended;
}

// How the pass of the next dispatch is to be timed, by the GPU's clock.
/** @param {Profile} mine @returns {GPUComputePassDescriptor} */
export function dispatchTiming(mine) {
  let set = mine.sets.at(-1);
  if (!set || set.used === MOST_QUERIES) {
    set = { queries: newQueries(MOST_QUERIES), used: 0, numbers: [] };
    mine.sets.push(set);
  }
  const timestampWrites = {
    querySet: set.queries,
    beginningOfPassWriteIndex: set.used,
    endOfPassWriteIndex: set.used + 1,
  };
  set.used += 2;
  set.numbers.push(mine.dispatches);
  return { timestampWrites };
}
