/** Ends a run from outside: Python that computes, awaits, or blocks in `run_sync`. */

const SIGINT = 2;

export class Interruption {
  #buffer = null;
  #runId = null;
  #cancel = () => false;
  #waits = new Set();

  /** Let Python look at the shared buffer while it computes (none without isolation). */
  attach(pyodide, buffer) {
    if (!buffer) return;
    this.#buffer = new Uint8Array(buffer);
    pyodide.setInterruptBuffer(this.#buffer);
  }

  begin(runId, cancel) {
    this.#clear();
    this.#runId = runId;
    this.#cancel = cancel;
  }

  end() {
    this.#clear();
    this.#runId = null;
    this.#cancel = () => false;
  }

  /** A promise that settles as `promise` does, or is rejected when the run is interrupted. */
  race(promise) {
    return new Promise((resolve, reject) => {
      const wait = { reject };
      this.#waits.add(wait);
      Promise.resolve(promise).then(resolve, reject).finally(() => this.#waits.delete(wait));
    });
  }

  /** A promise and the function that resolves it. */
  signal() {
    return Promise.withResolvers();
  }

  /**
   * Called from the event loop, so Python is not computing: it blocks on a promise or awaits.
   * Returns whether there was something to end.
   */
  whileWaiting(runId) {
    if (runId !== this.#runId) return false;
    // Left set, the buffer would raise inside the event loop's own code.
    this.#clear();
    if (this.#waits.size > 0) {
      const error = new Error("interrupted");
      error.name = "KernelInterrupt";
      for (const wait of this.#waits) wait.reject(error);
      this.#waits.clear();
      return true;
    }
    return this.#cancel();
  }

  #clear() {
    if (this.#buffer) Atomics.store(this.#buffer, 0, 0);
  }
}

/** Ask Python to stop while it computes; the page's side of the shared buffer. */
export function raiseInterrupt(buffer) {
  Atomics.store(new Uint8Array(buffer), 0, SIGINT);
}
