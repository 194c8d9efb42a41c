/** The notebooks stored in the browser, and the actions on them. */
import { downloadNotebook } from "../base/downloads.js";
import { openRecords } from "./tab-record.js";
import { freeTitle } from "./titles.js";

/** Days in which a deleted notebook can be restored. */
export const DELETED_DAYS = 30;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Return a copy of a record with a new title. */
export function copyOf(record, titles) {
  const title = copyTitle(record.title, titles);
  const now = Date.now();
  return { ...record, id: crypto.randomUUID(), title, saved: now, used: now, disk: undefined };
}

/** Return "x (copy)", or "x (copy 2)" and so on if it is taken. */
function copyTitle(title, titles) {
  const taken = new Set(titles);
  const base = title.replace(/ \(copy(?: \d+)?\)$/, "");
  let copy = `${base} (copy)`;
  for (let n = 2; taken.has(copy); n += 1) copy = `${base} (copy ${n})`;
  return copy;
}

export class Shelf {
  #storage;
  #tab;
  #documents;
  #kernels;

  constructor({ storage, tab, documents, kernels }) {
    this.#kernels = kernels;
    this.#storage = storage;
    this.#tab = tab;
    this.#documents = documents;
  }

  /**
   * Return all stored notebooks, last used first. `open` is "here", "elsewhere" (in another tab) or
   * "". `kernel` is the state of the notebook's kernel in this tab, or null.
   */
  async list() {
    await this.#documents.flush();
    const open = await openRecords();
    const here = this.#documents.id;
    const where = (id) => {
      if (id === here) return "here";
      return open.has(id) && !this.#tab.has(id) ? "elsewhere" : "";
    };
    const all = (await this.#storage.list()).map((one) => ({
      ...one, open: where(one.id), kernel: this.#kernels.stateOf(one.id),
    }));
    return all.filter(({ id, untouched, kernel }) => !untouched || id === here || kernel);
  }

  /** End the kernel of a notebook that is not shown. */
  endKernel(id) {
    this.#kernels.end(id);
  }

  open(id) {
    return this.#documents.openKept(id);
  }

  async rename(id, wanted) {
    const others = (await this.#storage.list()).filter((one) => one.id !== id && !one.deleted);
    const title = freeTitle(wanted, others.map((one) => one.title));
    if (await this.#documents.rename(id, title)) return;
    await this.#alone(id, () => this.#storage.change(id, { title }));
  }

  async duplicate(id) {
    const titles = (await this.#storage.list()).map(({ title }) => title);
    const record = await this.#record(id);
    await this.#storage.put(copyOf({ ...record, untouched: false }, titles));
  }

  async download(id) {
    const { title, notebook } = await this.#record(id);
    downloadNotebook(title, notebook);
  }

  /** Delete a notebook. It can be restored within DELETED_DAYS. */
  async delete(id) {
    await this.#alone(id, async () => {
      await this.#documents.close(id);
      await this.#storage.change(id, { deleted: Date.now() });
    });
  }

  async bringBack(id) {
    const isThere = await this.#storage.change(id, { deleted: undefined });
    if (!isThere) throw new Error("the notebook was deleted for good in another tab");
  }

  async deleteForGood(id) {
    await this.#alone(id, async () => {
      const isGone = await this.#storage.removeIf(id, ({ deleted }) => deleted);
      if (!isGone) throw new Error("the notebook was brought back in another tab");
    });
  }

  /** Remove the unchanged tour, and notebooks deleted long ago. */
  async tidy() {
    const old = Date.now() - DELETED_DAYS * DAY_MS;
    const isOld = ({ untouched, deleted }) => untouched || (deleted && deleted < old);
    for (const record of await this.#storage.list()) {
      const { id } = record;
      if (!isOld(record) || this.#tab.has(id) || !(await this.#tab.claim(id))) continue;
      await this.#storage.removeIf(id, isOld);
      this.#tab.release(id);
    }
  }

  async #record(id) {
    await this.#documents.flush();
    const record = await this.#storage.get(id);
    if (!record) throw new Error("the notebook is no longer stored");
    return record;
  }

  /** Run work under a lock, so that no other tab overwrites its changes. */
  async #alone(id, work) {
    const ours = this.#tab.has(id);
    if (!(await this.#tab.claim(id))) throw new Error("the notebook is open in another tab");
    try {
      await work();
    } finally {
      if (!ours) this.#tab.release(id);
    }
  }
}
