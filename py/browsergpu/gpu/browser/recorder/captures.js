// What Python captures: commands that are kept as they come, to be replayed by one call.

/** @type {Map<number, Uint32Array<ArrayBuffer>[]>} */
const captures = new Map();
/** @type {Uint32Array<ArrayBuffer>[] | null} that of the capture which goes on */
let open = null;

// Keeps the commands that come from now on, after those that a capture has already.
/** @param {number} id */
export function startCapture(id) {
  open = captures.get(id) ?? [];
  captures.set(id, open);
}

export function stopCapture() {
  open = null;
}

/** @param {Uint32Array<ArrayBuffer>} words which do not change any more */
export function noteCaptured(words) {
  open?.push(words);
}

/** @param {number} id */
export function dropCapture(id) {
  captures.delete(id);
}

// The commands of a capture, with other words in some places: of which batch, from where on.
/** @param {number} id @param {[batch: number, at: number, words: number[]][]} changes */
export function captured(id, changes) {
  const batches = [...(captures.get(id) ?? [])];
  for (const [batch, at, words] of changes) {
    batches[batch] = batches[batch].slice();
    batches[batch].set(words, at);
  }
  return batches;
}

export function dropCaptures() {
  captures.clear();
}
