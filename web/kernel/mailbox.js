/** Text that the page leaves for Python in shared memory, which computing Python can read too. */

/** Layout: the state, the number of bytes, and the text in UTF-8. */
const STATE = 0;
const LENGTH = 1;
const TEXT_AT = 8;
const TEXT_BYTES = 1 << 16;
export const MAIL_BYTES = TEXT_AT + TEXT_BYTES;

const EMPTY = 0;
const FULL = 1;
/** One side writes or reads. */
const IN_USE = 2;

/** Page side: leave text. Returns false if the previous one was not taken, or if it is too long. */
export function leaveMail(buffer, text) {
  const bytes = new TextEncoder().encode(text);
  const words = new Int32Array(buffer, 0, 2);
  if (bytes.length > TEXT_BYTES) return false;
  if (Atomics.compareExchange(words, STATE, EMPTY, IN_USE) !== EMPTY) return false;
  new Uint8Array(buffer, TEXT_AT).set(bytes);
  Atomics.store(words, LENGTH, bytes.length);
  Atomics.store(words, STATE, FULL);
  return true;
}

/** Either side: take the text, or "". */
export function takeMail(buffer) {
  const words = new Int32Array(buffer, 0, 2);
  if (Atomics.compareExchange(words, STATE, FULL, IN_USE) !== FULL) return "";
  // A decoder does not read shared memory.
  const bytes = new Uint8Array(buffer, TEXT_AT).slice(0, Atomics.load(words, LENGTH));
  Atomics.store(words, STATE, EMPTY);
  return new TextDecoder().decode(bytes);
}
