/** Interrupts a run from outside, whether Python computes, awaits, or blocks in `run_sync`. */

const SIGINT = 2;
const SIGALRM = 14;
/**
 * Memory shared by page and kernel: a byte that Python polls, and the id of the run to interrupt. A
 * run whose packages are still being looked up finds its id there.
 */
const SIGNAL_BYTE = 0;
const RUN_ID_WORD = 1;
export const SHARED_BYTES = 8;

/** Page side: ask Python to stop while it computes, through the shared `buffer`. */
export function raiseInterrupt(buffer, runId) {
  Atomics.store(new Int32Array(buffer), RUN_ID_WORD, runId);
  Atomics.store(new Uint8Array(buffer), SIGNAL_BYTE, SIGINT);
}

/** Ask computing Python to send its buffered output. */
export function askForOutput(buffer) {
  Atomics.compareExchange(new Uint8Array(buffer), SIGNAL_BYTE, 0, SIGALRM);
}

/**
 * The signal as Pyodide polls it: it reads element 0 and then sets it to 0. A signal that arrives
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

  /** `buffer` is shared with the page. Without isolation there is none. */
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

  /** Begin a run. Its packages load first, which must not be interrupted. */
  begin(runId) {
    this.#runId = runId;
    this.#requested = false;
  }

  /**
   * Python is about to run. `cancel` ends the run while it awaits. Returns false if an interrupt
   * came before: as a message, or through the buffer while the kernel was too busy to receive one.
   */
  arm(cancel) {
    this.#signal?.clear();
    if (this.#requested || (this.#ids && Atomics.load(this.#ids, RUN_ID_WORD) === this.#runId)) {
      return false;
    }
    this.#cancel = cancel;
    return true;
  }

  /**
   * From now on the buffer raises KeyboardInterrupt. Python calls it when it can catch that. Returns
   * whether an interrupt came before.
   */
  listen() {
    this.#listen();
    return this.#requested;
  }

  #listen() {
    this.#listens = true;
    this.#pyodide.setInterruptBuffer(this.#signal);
  }

  /** Outside of a run, a late interrupt would hit the kernel's own code. */
  ignore() {
    this.#listens = false;
    this.#pyodide.setInterruptBuffer(undefined);
  }

  /**
   * Call Python for the page or the kernel, and return its answer. An interrupt during the call is
   * kept for the run. Otherwise it would be lost to the run and fail the call.
   */
  aside(call) {
    const listened = this.#listens;
    if (listened) this.ignore();
    try {
      return call();
    } finally {
      if (listened) this.#listen();
    }
  }

  end() {
    this.ignore();
    this.#cancel = null;
    this.#runId = null;
  }

  /**
   * Return something for Python to block on: the promise `settled()`, which `done()` or an interrupt
   * resolves. It also settles as the promise `awaited`, if there is one. Python calls `end()` when
   * it continues and then checks `interrupted`, since an interrupt may arrive between the promise
   * and Python.
   * @param {Promise<unknown> | null} awaited
   */
  wait(awaited = null) {
    const { promise, resolve, reject } = Promise.withResolvers();
    awaited?.then(resolve, reject);
    const wait = {
      settled: () => promise,
      interrupted: false,
      done: () => resolve(null),
      end: () => this.#waits.delete(wait),
    };
    this.#waits.add(wait);
    return wait;
  }

  /**
   * Called from the event loop, when Python is not computing: it blocks on a promise, awaits, or
   * has not begun, also after `arm`. Returns whether this ends the run.
   */
  whileWaiting(runId) {
    if (runId !== this.#runId) return false;
    // Otherwise the buffer would raise once more.
    this.#signal?.clear();
    if (this.endWaits()) return true;
    if (!this.#cancel?.()) this.#requested = true;
    return true;
  }

  /** Make a blocking wait of Python raise KeyboardInterrupt. Returns false if it does not block. */
  endWaits() {
    for (const wait of this.#waits) {
      wait.interrupted = true;
      wait.done();
    }
    return this.#waits.size > 0;
  }
}
