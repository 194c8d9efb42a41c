/** Ends a run from outside: Python that computes, awaits, or blocks in `run_sync`. */

const SIGINT = 2;
const SIGALRM = 14;
/**
 * What page and kernel share: a byte that Python looks at, and the id of the run it is meant for.
 * A run that has not begun yet, because its packages are being looked up, finds its id there.
 */
const SIGNAL_BYTE = 0;
const RUN_ID_WORD = 1;
export const SHARED_BYTES = 8;

/** Ask Python to stop while it computes; the page's side of the shared `buffer`. */
export function raiseInterrupt(buffer, runId) {
  Atomics.store(new Int32Array(buffer), RUN_ID_WORD, runId);
  Atomics.store(new Uint8Array(buffer), SIGNAL_BYTE, SIGINT);
}

/** Have Python, while it computes, send what it holds back of its output. */
export function askForOutput(buffer) {
  Atomics.compareExchange(new Uint8Array(buffer), SIGNAL_BYTE, 0, SIGALRM);
}

/**
 * The signal as Pyodide polls it: it reads element 0 and then sets it to 0. A signal that comes
 * between the two stays for the next poll.
 */
class PolledSignal {
  /** @type {Uint8Array} */
  #bytes;
  #seen = 0;

  constructor(buffer) {
    this.#bytes = new Uint8Array(buffer);
  }

  get 0() {
    this.#seen = Atomics.load(this.#bytes, SIGNAL_BYTE);
    return this.#seen;
  }

  set 0(_none) {
    Atomics.compareExchange(this.#bytes, SIGNAL_BYTE, this.#seen, 0);
  }

  /** Drop the signal, seen or not. */
  clear() {
    Atomics.store(this.#bytes, SIGNAL_BYTE, 0);
  }
}

export class Interruption {
  #pyodide;
  #signal;
  #ids;
  #runId = null;
  /** @type {(() => boolean) | null} */
  #cancel = null;
  #requested = false;
  #waits = new Set();
  #listens = false;

  /** `buffer` is shared with the page; without isolation there is none. */
  constructor(pyodide, buffer) {
    this.#pyodide = pyodide;
    this.#signal = buffer ? new PolledSignal(buffer) : undefined;
    this.#ids = buffer ? new Int32Array(buffer) : undefined;
  }

  /** Whether the page can reach Python while it computes. */
  get reaches() {
    return this.#signal !== undefined;
  }

  /** Whether a run has begun and not ended. */
  get running() {
    return this.#runId !== null;
  }

  /** A run begins: packages are loaded first, which must not be torn apart. */
  begin(runId) {
    this.#runId = runId;
    this.#requested = false;
  }

  /**
   * Python is about to run; `cancel` ends it where it awaits. False if an interrupt came before:
   * as a message, or through the buffer while the kernel was too busy to receive one.
   */
  arm(cancel) {
    this.#signal?.clear();
    if (this.#requested || (this.#ids && Atomics.load(this.#ids, RUN_ID_WORD) === this.#runId)) {
      return false;
    }
    this.#cancel = cancel;
    return true;
  }

  /** From here on the buffer raises KeyboardInterrupt; called by Python where it can catch it. */
  listen() {
    this.#listens = true;
    this.#pyodide.setInterruptBuffer(this.#signal);
  }

  /** Outside of a run, an interrupt that comes late would hit the kernel's own code. */
  ignore() {
    this.#listens = false;
    this.#pyodide.setInterruptBuffer(undefined);
  }

  /**
   * Call Python for the page or for the kernel itself, and return its answer. An interrupt that
   * comes meanwhile stays for the run: this call would take it from the run, and fail by it.
   */
  aside(call) {
    const listened = this.#listens;
    if (listened) this.ignore();
    try {
      return call();
    } finally {
      if (listened) this.listen();
    }
  }

  end() {
    this.ignore();
    this.#cancel = null;
    this.#runId = null;
  }

  /**
   * Something for Python to block on: `promise`, which `done()` or an interrupt resolves. Python
   * calls `end()` when it goes on, and then looks whether it was `interrupted`: an interrupt may
   * come between the promise and Python.
   */
  wait() {
    const { promise, resolve } = Promise.withResolvers();
    const wait = {
      promise, interrupted: false, done: () => resolve(null), end: () => this.#waits.delete(wait),
    };
    this.#waits.add(wait);
    return wait;
  }

  /**
   * Called from the event loop, so Python is not computing: it blocks on a promise, awaits, or
   * has not begun. Returns whether the run will end by that.
   */
  whileWaiting(runId) {
    if (runId !== this.#runId) return false;
    // Left set, the buffer would raise once more.
    this.#signal?.clear();
    if (this.endWaits()) return true;
    if (this.#cancel) return this.#cancel();
    this.#requested = true;
    return true;
  }

  /** Have what Python blocks on raise KeyboardInterrupt; false if it does not block. */
  endWaits() {
    for (const wait of this.#waits) {
      wait.interrupted = true;
      wait.done();
    }
    return this.#waits.size > 0;
  }
}
