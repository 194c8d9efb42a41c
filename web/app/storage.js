/** Keeps each tab's notebook in the browser, so that a reload or a crash loses nothing. */

const DATABASE = "browsergpu";
const STORE = "notebooks";
const KEPT = 10;

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

  constructor(session = sessionStorage) {
    // Every tab has a record of its own, so two tabs do not overwrite each other.
    this.#id = session.getItem("browsergpu-record") ?? crypto.randomUUID();
    session.setItem("browsergpu-record", this.#id);
  }

  async #store(mode) {
    this.#database ??= await open();
    return this.#database.transaction(STORE, mode).objectStore(STORE);
  }

  /** This tab's notebook, else the one saved last by any tab, else null. */
  async load() {
    const records = await promised((await this.#store("readonly")).getAll());
    return records.find(({ id }) => id === this.#id)
      ?? records.sort((a, b) => b.saved - a.saved)[0] ?? null;
  }

  async save(title, notebook) {
    const store = await this.#store("readwrite");
    await promised(store.put({ id: this.#id, saved: Date.now(), title, notebook }));
  }

  /** Forget all but the latest notebooks. */
  async prune() {
    const records = await promised((await this.#store("readonly")).getAll());
    const old = records.sort((a, b) => b.saved - a.saved).slice(KEPT);
    const store = await this.#store("readwrite");
    await Promise.all(old.map(({ id }) => promised(store.delete(id))));
  }
}
