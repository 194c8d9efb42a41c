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

export function dropCaptures() {
  captures.clear();
}
