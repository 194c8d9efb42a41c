// Captured commands, which are kept and can be replayed by one call.

/** @type {Map<number, Uint32Array<ArrayBuffer>[]>} */
const captures = new Map();
/** @type {Uint32Array<ArrayBuffer>[] | null} the capture in progress */
let open = null;

// Keeps the commands recorded from now on, after those that the capture already has.
/** @param {number} id */
export function startCapture(id) {
  open = captures.get(id) ?? [];
  captures.set(id, open);
}

export function stopCapture() {
  open = null;
}

/** @param {Uint32Array<ArrayBuffer>} words must not change afterwards */
export function noteCaptured(words) {
  open?.push(words);
}

/** @param {number} id */
export function dropCapture(id) {
  captures.delete(id);
}

// The commands of a capture with some words replaced, given by batch and position.
/** @param {number} id @param {[batch: number, at: number, words: number[]][]} changes */
export function captured(id, changes) {
  const kept = captures.get(id) ?? [];
  const batches = [...kept];
  for (const [batch, at, words] of changes) {
    if (batches[batch] === kept[batch]) batches[batch] = kept[batch].slice();
    batches[batch].set(words, at);
  }
  return batches;
}

// Replaces words of a capture for good, then moves spans of words to the same batches of another.
/**
 * @param {number} id @param {number} other
 * @param {string} changes as JSON, as those of captured()
 * @param {string} taken as JSON: batch, begin and end of each span, in the order of the commands
 */
export function divideCapture(id, other, changes, taken) {
  /** @type {[batch: number, begin: number, end: number][]} */
  const spans = JSON.parse(taken);
  const divided = captured(id, JSON.parse(changes)).map((words, batch) => {
    const own = spans.filter(([one]) => one === batch);
    const ends = [0, ...own.map(([, , end]) => end)];
    return {
      left: joined(ends.map((from, n) => words.subarray(from, own[n]?.[1]))),
      moved: joined(own.map(([, begin, end]) => words.subarray(begin, end))),
    };
  });
  captures.set(id, divided.map(({ left }) => left));
  captures.set(other, divided.map(({ moved }) => moved));
}

/** @param {Uint32Array[]} parts */
function joined(parts) {
  const whole = new Uint32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

export function dropCaptures() {
  captures.clear();
}
