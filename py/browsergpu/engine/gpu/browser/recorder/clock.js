// Timing in progress: the GPU's time between two calls (timing.js), or each dispatch (profile.js).
// encoding.js gets the timestamp writes of passes here.

const MOST_QUERIES = 4096; // per set, WebGPU's limit; each dispatch uses two

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

// Ends the timing and returns its results so far.
export function endTiming() {
  const ended = /** @type {Timing} */ (timing);
  timing = null;
  return ended;
}

// Whether timing is in progress. Waiting would be timed, too.
export function isTimed() {
  return timing !== null || profile !== null;
}

// The timestamp writes of the next pass, if passes are timed.
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

// Ends the profile and returns its results so far.
export function endProfile() {
  const ended = /** @type {Profile} */ (profile);
  profile = null;
  return ended;
}

// The timestamp writes for the pass of the next dispatch.
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
