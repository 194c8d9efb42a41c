/** Saves the notebook shortly after each change, and immediately when the page is left. */

const DELAY_MS = 400;
/** Interval of saves during continuous changes, such as a cell that prints. */
const LONGEST_MS = 5000;

export class Autosave {
  #snapshot;
  #save;
  #saveAtOnce;
  #report;
  /** @type {number | undefined} */
  #timer;
  /** The latest time to save the pending changes. */
  #deadline = 0;
  #saving = Promise.resolve();

  /**
   * `snapshot` returns the content, `save` stores it, and `saveAtOnce` stores it synchronously.
   * `report` gets "saving", "saved" or "failed" with the error.
   */
  constructor({ snapshot, save, saveAtOnce, report }) {
    this.#snapshot = snapshot;
    this.#save = save;
    this.#saveAtOnce = saveAtOnce;
    this.#report = report;
    addEventListener("pagehide", () => this.#leave());
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "hidden") this.#leave();
    });
  }

  /** Note a change. */
  touch() {
    this.#report("saving");
    const now = performance.now();
    if (this.#timer === undefined) this.#deadline = now + LONGEST_MS;
    clearTimeout(this.#timer);
    const delay = Math.min(DELAY_MS, this.#deadline - now);
    this.#timer = setTimeout(() => this.flush(), delay);
  }

  /** Save pending changes. Resolves when done, even after a failure. */
  flush() {
    if (this.#timer === undefined) return this.#saving;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const present = this.#snapshot();
    // In order, since a slow older save must not replace a newer one.
    this.#saving = this.#saving.then(() => this.#save(present)).then(() => {
      if (this.#timer === undefined) this.#report("saved");
    }, (error) => this.#report("failed", error));
    return this.#saving;
  }

  #leave() {
    if (this.#timer === undefined) return;
    // Asynchronous work may not finish after the page is left.
    this.#saveAtOnce(this.#snapshot());
    void this.flush();
  }
}
