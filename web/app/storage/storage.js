/** Stores each notebook in the browser as a record, so that a reload or a crash loses nothing. */

// The package stores tuning results in another database (gpu/browser/interop.py), so that each
// schema can change independently.
const DATABASE = "browsergpu-notebooks";
const STORE = "notebooks";
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

/** Open a connection. It closes, and calls `onEnd`, when another tab changes the database. */
async function open(onEnd) {
  const request = indexedDB.open(DATABASE); // any version, including a later page's
  request.onupgradeneeded = () => request.result.createObjectStore(STORE, { keyPath: "id" });
  const database = await promised(request);
  database.onversionchange = () => {
    database.close();
    onEnd();
  };
  database.onclose = onEnd; // for example when the site's data is cleared
  return database;
}

/**
 * A stored notebook. `notebook` is its .ipynb text. `saved` is the time of its last change, `used`
 * of its last display, and `deleted` of its deletion, if any. `untouched` means that it is empty or
 * the page's own, and unchanged. `disk` is the file that it was opened from. `trusted` means that
 * its outputs may run scripts, and `made` has the places of the cells whose outputs this browser made,
 * which may run them too. `origin` is the address that it was copied from, or "link" if it was
 * in a link.
 * @typedef {{
 *   id: string, title: string, notebook: string, saved: number, used?: number,
 *   untouched?: boolean, deleted?: number, disk?: import("./disk-file.js").DiskFile,
 *   trusted?: boolean, made?: number[], origin?: string,
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

  /** Return all records, last used first, with the notebook's `size` instead of its text. */
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
    // A page that is left cannot complete the transaction later.
    store.transaction.commit?.();
    await done;
  }

  /** Change some fields of a record. Returns false if another tab has removed it. */
  async change(id, fields) {
    const store = await this.#store("readwrite");
    const done = completed(store.transaction);
    const record = await promised(store.get(id));
    if (record) store.put({ ...record, ...fields });
    await done;
    return record !== undefined;
  }

  /** Remove a record if it still fulfils a condition. Returns whether it is gone. */
  async removeIf(id, condition) {
    const store = await this.#store("readwrite");
    const done = completed(store.transaction);
    const record = await promised(store.get(id));
    const goes = !record || condition(record);
    if (goes) {
      store.delete(id);
      localStorage.removeItem(LEFT + id); // else `adopt` would restore it
    }
    await done;
    return goes;
  }

  /**
   * Store synchronously if the record fits, since a page that is left does not wait for a database.
   * @param {NotebookRecord} record
   */
  putAtOnce(record) {
    try {
      // A file handle cannot be JSON, but the database has it.
      const text = JSON.stringify({ ...record, disk: undefined });
      localStorage.setItem(LEFT + record.id, text);
    } catch {
      // Too large for local storage; only the database, which is tried as well, can store it.
    }
  }

  /** Store a record, unless one of its notebook exists that was changed or shown later. */
  async #adopt(record) {
    const store = await this.#store("readwrite");
    const done = completed(store.transaction);
    const stored = await promised(store.get(record.id));
    const later = (name) => (record[name] ?? 0) - (stored[name] ?? 0);
    if (!stored || (later("saved") || later("used")) > 0) store.put({ ...stored, ...record });
    await done;
  }

  /** Move records that `putAtOnce` left in local storage into the database. */
  async adopt() {
    const keys = Object.keys(localStorage).filter((key) => key.startsWith(LEFT));
    for (const key of keys) {
      const left = localStorage.getItem(key);
      if (left === null) continue; // another tab was faster
      try {
        await this.#adopt(recordOf(left));
        localStorage.removeItem(key);
      } catch (error) {
        // One unreadable record must not hide the others.
        console.warn(`${key} stays in local storage: ${error.message}`);
      }
    }
  }
}

/** @returns {NotebookRecord} the record that `putAtOnce` stored as this text */
function recordOf(text) {
  const record = JSON.parse(text);
  if (typeof record?.notebook !== "string") throw new TypeError("it is not a notebook's record");
  return record;
}
