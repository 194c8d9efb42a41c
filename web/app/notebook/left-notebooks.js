/** Notebooks of this tab that were left and are not stored yet, or whose kernels go on. */
import { stored } from "../storage/records.js";

/** Delay of saving outputs. */
const DELAY_MS = 1000;

/**
 * A notebook that was left. `timer` is set while outputs are not stored.
 * @typedef {{
 *   sheet: import("./sheet.js").Sheet, record: import("../storage/records.js").About,
 *   title: string, timer?: ReturnType<typeof setTimeout>,
 * }} Left
 */

/** @param {Left} left */
const contentOf = ({ record, title, sheet }) =>
  stored({ record: { ...record, saved: Date.now(), untouched: false }, title, sheet });

export class LeftNotebooks {
  #kernels;
  #storage;
  #report;
  /** @type {Map<string, Left>} by record id */
  #left = new Map();

  /** `report` gets the error if a notebook cannot be stored. */
  constructor({ notebook, kernels, storage, report }) {
    this.#kernels = kernels;
    this.#storage = storage;
    this.#report = report;
    addEventListener("pagehide", () => {
      for (const left of this.#left.values()) {
        if (left.timer !== undefined || left.sheet.isBusy) storage.putAtOnce(contentOf(left));
      }
    });
    notebook.addEventListener("away", ({ detail: kernel }) => {
      for (const left of this.#left.values()) {
        if (left.sheet.kernel !== kernel) continue;
        left.timer ??= setTimeout(() => void this.#store(left), DELAY_MS);
      }
    });
  }

  /** @param {Left} left */
  async #store(left) {
    clearTimeout(left.timer);
    left.timer = undefined;
    try {
      await this.#storage.put(contentOf(left));
    } catch (error) {
      this.#report(error);
    }
  }

  /** Store outputs that are not stored yet. */
  async flush() {
    const changed = [...this.#left.values()].filter(({ timer }) => timer !== undefined);
    await Promise.all(changed.map((left) => this.#store(left)));
  }

  /** @returns {Left | undefined} */
  get(id) {
    return this.#left.get(id);
  }

  /**
   * Keep a notebook until `kept` has settled, its kernel has ended, and no cell runs. Resolves to
   * false if it was taken before.
   * @param {Left} left
   * @param {Promise<unknown>} kept
   */
  async keep(left, kept) {
    const { record: { id }, sheet } = left;
    const isThere = () => this.#left.get(id) === left;
    this.#left.set(id, left);
    await kept;
    await this.#kernels.ended(id);
    await sheet.settled();
    if (isThere() && left.timer !== undefined) await this.#store(left);
    if (!isThere()) return false;
    this.#left.delete(id);
    sheet.destroy();
    return true;
  }

  /** Return a notebook that is shown again, which then stores it. */
  take(id) {
    const left = this.#left.get(id);
    clearTimeout(left?.timer);
    this.#left.delete(id);
    return left;
  }

  /** End the kernel of a notebook, and forget it. */
  close(id) {
    const left = this.take(id);
    this.#kernels.end(id);
    void left?.sheet.settled().then(() => left.sheet.destroy());
  }
}
