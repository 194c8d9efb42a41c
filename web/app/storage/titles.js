/** The names of the notebooks in this browser, each of which is unique. */

/** Return a notebook's name as wanted, or "x 2", "x 3" and so on if it is taken. */
export function freeTitle(wanted, titles) {
  const taken = new Set(titles);
  const base = wanted.trim() || "untitled";
  let title = base;
  for (let n = 2; taken.has(title); n += 1) title = `${base} ${n}`;
  return title;
}

export class Titles {
  #storage;
  /** @type {Map<string, string>} by record id */
  #titles = new Map();
  /** @type {Set<string>} ids of the records that this page has changed */
  #changed = new Set();

  constructor(storage) {
    this.#storage = storage;
  }

  note(id, title) {
    this.#titles.set(id, title);
    this.#changed.add(id);
  }

  /** Read the names of the stored notebooks. Unchanged notebooks do not reserve their names. */
  async read() {
    for (const { id, title, untouched, deleted } of await this.#storage.list()) {
      // The list may be older than a change of this page, which is stored a little later.
      if (deleted || (untouched && !this.#changed.has(id))) this.#titles.delete(id);
      else this.#titles.set(id, title);
    }
  }

  /** Return the name for the notebook of this record. */
  free(wanted, id = "") {
    return freeTitle(wanted, [...this.#titles].filter(([one]) => one !== id).map(([, title]) => title));
  }
}
