/** Keeps each tab's notebook in the browser, so that a reload or a crash loses nothing. */

// The package has a database of its own for what tuning finds (gpu/browser/interop.py): each can then
// change the shape of its own without the other's knowing.
const DATABASE = "browsergpu-notebooks";
const STORE = "notebooks";
// The name that both used before, so that whoever came first left the other without its store.
const OLD_DATABASE = "browsergpu";
const KEPT = 10;
const LEFT = "browsergpu-left:";

function promised(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** @returns {Promise<void>} */
function completed(transaction) {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
  });
}

/** A connection that ends, as `onEnd` is told, where another tab wants to change the database. */
async function open(onEnd) {
  const request = indexedDB.open(DATABASE); // of any version, also of a later page
  request.onupgradeneeded = () => request.result.createObjectStore(STORE, { keyPath: "id" });
  const database = await promised(request);
  database.onversionchange = () => {
    database.close();
    onEnd();
  };
  database.onclose = onEnd; // such as where the site's data are cleared
  return database;
}

/** A database as it is, or null where there is none: it is not made. */
async function openExisting(name) {
  const all = await indexedDB.databases?.();
  if (all && !all.some((database) => database.name === name)) return null;
  const request = indexedDB.open(name);
  let isNew = false;
  request.onupgradeneeded = () => {
    isNew = true;
    request.transaction?.abort();
  };
  try {
    const database = await promised(request);
    database.onversionchange = () => database.close();
    return database;
  } catch (error) {
    if (isNew) return null;
    throw error;
  }
}

/** Records are `{id, saved, title, notebook}`, with the notebook as .ipynb text. */
export class NotebookStorage {
  /** @type {Promise<IDBDatabase> | null} */
  #opening = null;
  #id;

  constructor() {
    // Every tab has a record of its own, so two tabs do not overwrite each other.
    this.#id = sessionStorage.getItem("browsergpu-record") ?? crypto.randomUUID();
    sessionStorage.setItem("browsergpu-record", this.#id);
  }

  async #store(mode) {
    const end = () => { if (this.#opening === opening) this.#opening = null; };
    const opening = this.#opening ??= open(() => end());
    try {
      return (await opening).transaction(STORE, mode).objectStore(STORE);
    } catch (error) {
      end(); // the next use opens it anew
      throw error;
    }
  }

  /** This tab's notebook, else the one saved last by any tab, else null. */
  async load() {
    await this.#adoptOld();
    await this.#adoptLeft();
    const records = await promised((await this.#store("readonly")).getAll());
    return records.find(({ id }) => id === this.#id)
      ?? records.sort((a, b) => b.saved - a.saved)[0] ?? null;
  }

  /**
   * Move what the page kept in the database of before into the present one. At each load: a tab that
   * was opened before the page changed may still be storing there.
   */
  async #adoptOld() {
    /** @type {IDBDatabase | null} */
    let old = null;
    try {
      old = await openExisting(OLD_DATABASE);
      if (!old?.objectStoreNames.contains(STORE)) return;
      for (const record of await promised(old.transaction(STORE).objectStore(STORE).getAll())) {
        await this.#adopt(record);
        await removeUnchanged(old, record);
      }
    } catch (error) {
      console.warn(`Notebooks of an earlier version stay where they are: ${error.message}`);
    } finally {
      old?.close();
    }
  }

  /** Store a record, unless a later one of its notebook is there. */
  async #adopt(record) {
    const store = await this.#store("readwrite");
    const done = completed(store.transaction);
    const stored = await promised(store.get(record.id));
    if (!stored || stored.saved < record.saved) store.put(record);
    await done;
  }

  /** Take what tabs stored while they were left into the database. */
  async #adoptLeft() {
    const keys = Object.keys(localStorage).filter((key) => key.startsWith(LEFT));
    for (const key of keys) {
      const left = localStorage.getItem(key);
      if (left === null) continue; // another tab was faster
      await this.#adopt(JSON.parse(left));
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

/** Delete a record of a database, where it is still what was read. */
async function removeUnchanged(database, { id, saved }) {
  const store = database.transaction(STORE, "readwrite").objectStore(STORE);
  const done = completed(store.transaction);
  const present = await promised(store.get(id));
  if (present?.saved === saved) store.delete(id);
  await done;
}
