/** Answers to Python's `input()`, passed from the page to waiting Python. */

/** Layout of the shared memory: the state, the number of bytes, and the text in UTF-8. */
const STATE = 0;
const LENGTH = 1;
const TEXT_AT = 8;
const MAX_TEXT_BYTES = 1 << 20;
export const ANSWER_BYTES = TEXT_AT + MAX_TEXT_BYTES;
/** This many characters always fit. */
export const MAX_ANSWER = MAX_TEXT_BYTES / 4;

const WAITING = 1;
const ANSWERED = 2;
const INTERRUPTED = 3;

/** Page side: answer blocked Python through `buffer`, or interrupt it with null. */
export function giveAnswer(buffer, text) {
  const words = new Int32Array(buffer, 0, 2);
  const bytes = new TextEncoder().encode(text ?? "");
  new Uint8Array(buffer, TEXT_AT).set(bytes);
  Atomics.store(words, LENGTH, bytes.length);
  Atomics.store(words, STATE, text === null ? INTERRUPTED : ANSWERED);
  Atomics.notify(words, STATE);
}

/** Kernel side. Python calls it. */
export class Answers {
  #words;
  #bytes;
  /** @type {(text: string) => void} */
  #resolve = () => {};

  /** `buffer` is shared with the page. Without isolation there is none. */
  constructor(buffer) {
    this.#words = buffer ? new Int32Array(buffer, 0, 2) : null;
    this.#bytes = buffer ? new Uint8Array(buffer, TEXT_AT) : null;
  }

  get canBlock() {
    return this.#words !== null;
  }

  /** Accept an answer from now on; called before the page is asked. */
  expect() {
    Atomics.store(/** @type {Int32Array} */ (this.#words), STATE, WAITING);
  }

  /** Wait for the text. Returns undefined after an interrupt. */
  block() {
    const words = /** @type {Int32Array} */ (this.#words);
    while (Atomics.load(words, STATE) === WAITING) Atomics.wait(words, STATE, WAITING);
    if (Atomics.load(words, STATE) === INTERRUPTED) return undefined;
    // A decoder does not read shared memory.
    const bytes = /** @type {Uint8Array} */ (this.#bytes).slice(0, Atomics.load(words, LENGTH));
    return new TextDecoder().decode(bytes);
  }

  /** Return a promise of the answer, which arrives as a message. */
  promise() {
    const { promise, resolve } = Promise.withResolvers();
    this.#resolve = resolve;
    return promise;
  }

  /** Receive that message. */
  take(text) {
    this.#resolve(text);
  }
}
