/** Keeps each tab's notebook in the browser, so that a reload or a crash loses nothing. */

const DATABASE = "browsergpu";
const STORE = "notebooks";
const KEPT = 10;
const LEFT = "browsergpu-left:";

function promised(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function open() {
  const request = indexedDB.open(DATABASE, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(STORE, { keyPath: "id" });
  return promised(request);
}

/** Records are `{id, saved, title, notebook}`, with the notebook as .ipynb text. */
export class NotebookStorage {
  #database = null;
  #id;

  constructor() {
    // Every tab has a record of its own, so two tabs do not overwrite each other.
    this.#id = sessionStorage.getItem("browsergpu-record") ?? crypto.randomUUID();
    sessionStorage.setItem("browsergpu-record", this.#id);
  }

  async #store(mode) {
    this.#database ??= await open();
    return this.#database.transaction(STORE, mode).objectStore(STORE);
  }

  /** This tab's notebook, else the one saved last by any tab, else null. */
  async load() {
    await this.#adoptLeft();
    const records = await promised((await this.#store("readonly")).getAll());
    return records.find(({ id }) => id === this.#id)
      ?? records.sort((a, b) => b.saved - a.saved)[0] ?? null;
  }

  /** Take what tabs stored while they were left into the database. */
  async #adoptLeft() {
    const keys = Object.keys(localStorage).filter((key) => key.startsWith(LEFT));
    for (const key of keys) {
      const left = JSON.parse(localStorage.getItem(key));
      const store = await this.#store("readwrite");
      const stored = await promised(store.get(left.id));
      if (!stored || stored.saved < left.saved) await promised(store.put(left));
      localStorage.removeItem(key);
    }
  }

  #record(title, notebook) {
    return { id: this.#id, saved: Date.now(), title, notebook };
  }

  async save(title, notebook) {
    const record = this.#record(title, notebook);
    await promised((await this.#store("readwrite")).put(record));
  }

  /** Store before returning, where it fits: a page that is left does not wait for a database. */
  saveAtOnce(title, notebook) {
    try {
      localStorage.setItem(LEFT + this.#id, JSON.stringify(this.#record(title, notebook)));
    } catch {
      // Larger than local storage: the database, which is tried as well, has to do.
    }
  }

  /** Forget all but the latest notebooks. */
  async prune() {
    const records = await promised((await this.#store("readonly")).getAll());
    const old = records.sort((a, b) => b.saved - a.saved).slice(KEPT);
    const store = await this.#store("readwrite");
    await Promise.all(old.map(({ id }) => promised(store.delete(id))));
  }
}
