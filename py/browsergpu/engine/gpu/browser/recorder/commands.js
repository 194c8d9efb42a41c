// The format of the ring's commands, for all users except the loop that encodes them (encoding.js).
import { FIRST_PIPELINE, stepOf } from "./pipelines.js";

export const CLEAR = 1;
export const HEADER = 4; // pipeline id and three grid dimensions

// Each command's position, its pipeline (null for a transfer), and the ids of its buffers.
/**
 * @param {Uint32Array} words
 * @returns {Generator<{at: number, step: Step | null, ids: Uint32Array | number[]}>}
 */
export function* commands(words) {
  for (let at = 0; at < words.length;) {
    const id = words[at];
    if (id >= FIRST_PIPELINE) {
      const step = stepOf(id);
      const bindingsAt = at + HEADER;
      yield { at, step, ids: words.subarray(bindingsAt, bindingsAt + step.bindings) };
      at = bindingsAt + step.bindingWords + step.words;
    } else if (id === CLEAR) {
      yield { at, step: null, ids: words.subarray(at + 1, at + 2) };
      at += 4;
    } else {
      yield { at, step: null, ids: [words[at + 1], words[at + 3]] };
      at += 6;
    }
  }
}
