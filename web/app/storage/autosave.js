/** Saves the notebook shortly after each change, and at once when the page is left. */

const DELAY_MS = 400;
/** What changes without a pause, as a cell that prints, is saved so often. */
const LONGEST_MS = 5000;

export class Autosave {
  #snapshot;
  #save;
  #saveAtOnce;
  #report;
  /** @type {number | undefined} */
  #timer;
  /** When what is not saved yet is to be saved at the latest. */
  #deadline = 0;
  #saving = Promise.resolve();

  /**
   * `snapshot` gives what is to be saved, `save` stores it, `saveAtOnce` does so before it returns.
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

  /** Something has changed. */
  touch() {
    this.#report("saving");
    const now = performance.now();
    if (this.#timer === undefined) this.#deadline = now + LONGEST_MS;
    clearTimeout(this.#timer);
    const delay = Math.min(DELAY_MS, this.#deadline - now);
    this.#timer = setTimeout(() => this.flush(), delay);
  }

  /** Save what has changed as it is now; resolves, also after a failure, when it is through. */
  flush() {
    if (this.#timer === undefined) return this.#saving;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const present = this.#snapshot();
    // One after the other: a slow older save must not land on a newer one.
    this.#saving = this.#saving.then(() => this.#save(present)).then(() => {
      if (this.#timer === undefined) this.#report("saved");
    }, (error) => this.#report("failed", error));
    return this.#saving;
  }

  #leave() {
    if (this.#timer === undefined) return;
    // What is asynchronous may not come to its end on a page that is left.
    this.#saveAtOnce(this.#snapshot());
    void this.flush();
  }
}
