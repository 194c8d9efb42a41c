/** Ends a run from outside: Python that computes, awaits, or blocks in `run_sync`. */

const SIGINT = 2;

/** Ask Python to stop while it computes; the page's side of the shared buffer. */
export function raiseInterrupt(buffer) {
  Atomics.store(new Uint8Array(buffer), 0, SIGINT);
}

export class Interruption {
  #pyodide;
  #buffer;
  #runId = null;
  #cancel = null;
  #requested = false;
  #waits = new Set();

  /** `buffer` is shared with the page; without isolation there is none. */
  constructor(pyodide, buffer) {
    this.#pyodide = pyodide;
    this.#buffer = buffer ? new Uint8Array(buffer) : undefined;
  }

  /** A run begins: packages are loaded first, which must not be torn apart. */
  begin(runId) {
    this.#runId = runId;
    this.#requested = false;
  }

  /** Whether an interrupt came before the user's Python began. */
  get requested() {
    return this.#requested;
  }

  /** The user's Python runs from now on; `cancel` ends it where it awaits. */
  arm(cancel) {
    this.#clear();
    this.#cancel = cancel;
    this.#pyodide.setInterruptBuffer(this.#buffer);
  }

  end() {
    // Outside of a run, an interrupt that comes late would hit Pyodide's own code.
    this.#pyodide.setInterruptBuffer(undefined);
    this.#cancel = null;
    this.#runId = null;
  }

  /**
   * Something for blocked Python to wait on: `promise` resolves to whether the run was
   * interrupted, and `done()` resolves it without.
   */
  wait() {
    const { promise, resolve } = Promise.withResolvers();
    this.#waits.add(resolve);
    promise.then(() => this.#waits.delete(resolve));
    return { promise, done: () => resolve(false) };
  }

  /**
   * Called from the event loop, so Python is not computing: it blocks on a promise, awaits, or
   * has not begun. Returns whether the run will end by that.
   */
  whileWaiting(runId) {
    if (runId !== this.#runId) return false;
    // Left set, the buffer would raise inside the event loop's own code.
    this.#clear();
    if (this.#waits.size > 0) {
      for (const resolve of this.#waits) resolve(true);
      this.#waits.clear();
      return true;
    }
    if (this.#cancel) return this.#cancel();
    this.#requested = true;
    return true;
  }

  #clear() {
    if (this.#buffer) Atomics.store(this.#buffer, 0, 0);
  }
}
