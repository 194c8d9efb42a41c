/** Keeps notebooks in the browser, each as a record of its own, so that a reload or a crash loses nothing. */

// The package has a database of its own for what tuning finds (gpu/browser/interop.py): each can then
// change the shape of its own without the other's knowing.
const DATABASE = "browsergpu-notebooks";
const STORE = "notebooks";
// The name that both used before, so that whoever came first left the other without its store.
const OLD_DATABASE = "browsergpu";
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

/**
 * One kept notebook. `notebook` is its .ipynb text; `saved` is when it changed last, `used` when it
 * was shown last. `untouched`: it came with the page, or is empty, and nobody has changed it.
 * `deleted` is when it was deleted, where it was. `disk` is the file that it was opened from.
 * `trusted`: the reader lets its outputs act.
 * @typedef {{
 *   id: string, title: string, notebook: string, saved: number, used?: number,
 *   untouched?: boolean, deleted?: number, disk?: import("./disk-file.js").DiskFile,
 *   trusted?: boolean,
 * }} NotebookRecord
 */

export class NotebookStorage {
  /** @type {Promise<IDBDatabase> | null} */
  #opening = null;

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

  /** @returns {Promise<NotebookRecord | undefined>} */
  async get(id) {
    return promised((await this.#store("readonly")).get(id));
  }

  /** All records without their notebooks, whose `size` is said instead; the last used comes first. */
  async list() {
    const request = (await this.#store("readonly")).openCursor();
    const found = [];
    await new Promise((resolve, reject) => {
      request.onerror = () => reject(request.error);
      request.onsuccess = () => {
        const cursor = request.result;
        if (!cursor) return resolve(null);
        const { notebook, ...rest } = cursor.value;
        found.push({ ...rest, size: notebook.length, used: rest.used ?? rest.saved });
        cursor.continue();
      };
    });
    return found.sort((a, b) => b.used - a.used);
  }

  /** @param {NotebookRecord} record */
  async put(record) {
    const store = await this.#store("readwrite");
    const done = completed(store.transaction);
    store.put(record);
    // A page that is left cannot say any more that this was all.
    store.transaction.commit?.();
    await done;
  }

  /** Change some fields of a record, where it is still there. */
  async change(id, fields) {
    const store = await this.#store("readwrite");
    const done = completed(store.transaction);
    const record = await promised(store.get(id));
    if (record) store.put({ ...record, ...fields });
    await done;
  }

  async remove(id) {
    await promised((await this.#store("readwrite")).delete(id));
  }

  /**
   * Store before returning, where it fits: a page that is left does not wait for a database.
   * @param {NotebookRecord} record
   */
  putAtOnce(record) {
    try {
      // The handle of a file is nothing for JSON; the database has it.
      const text = JSON.stringify({ ...record, disk: undefined });
      localStorage.setItem(LEFT + record.id, text);
    } catch {
      // Larger than local storage: the database, which is tried as well, has to do.
    }
  }

  /** Take over what was stored elsewhere; `isOpen(id)` says whether a tab has a record open. */
  async adopt(isOpen) {
    await this.#adoptOld(isOpen);
    await this.#adoptLeft();
  }

  /**
   * Move what the page kept in the database of before into the present one. At each load: a tab that
   * was opened before the page changed may still be storing there.
   */
  async #adoptOld(isOpen) {
    /** @type {IDBDatabase | null} */
    let old = null;
    try {
      old = await openExisting(OLD_DATABASE);
      if (!old?.objectStoreNames.contains(STORE)) return;
      for (const record of await promised(old.transaction(STORE).objectStore(STORE).getAll())) {
        // The tab of before and one of today may both have it open: each keeps what it has.
        const id = isOpen(record.id) ? crypto.randomUUID() : record.id;
        await this.#adopt({ ...record, id });
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
    if (!stored || stored.saved < record.saved) store.put({ ...stored, ...record });
    await done;
  }

  /** Take what tabs stored while they were left into the database. */
  async #adoptLeft() {
    const keys = Object.keys(localStorage).filter((key) => key.startsWith(LEFT));
    for (const key of keys) {
      const left = localStorage.getItem(key);
      if (left === null) continue; // another tab was faster
      try {
        await this.#adopt(recordOf(left));
        localStorage.removeItem(key);
      } catch (error) {
        // One that cannot be read must not keep the others from being found.
        console.warn(`${key} stays in local storage: ${error.message}`);
      }
    }
  }
}

/** @returns {NotebookRecord} what `putAtOnce` stored as this text */
function recordOf(text) {
  const record = JSON.parse(text);
  if (typeof record?.notebook !== "string") throw new TypeError("it is no notebook's record");
  return record;
}

/** Delete a record of a database, where it is still what was read. */
async function removeUnchanged(database, { id, saved }) {
  const store = database.transaction(STORE, "readwrite").objectStore(STORE);
  const done = completed(store.transaction);
  const present = await promised(store.get(id));
  if (present?.saved === saved) store.delete(id);
  await done;
}
