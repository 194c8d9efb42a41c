/** The open notebook: its record, its origin, and its storage. */
import { Autosave } from "../storage/autosave.js";
import { ChangedOnDisk, canPickFiles, pickNotebook, writeBack } from "../storage/disk-file.js";
import { downloadNotebook } from "../base/downloads.js";
import { NotebookFormatError, formatNotebook, parseNotebook } from "../cells/ipynb.js";
import { announce, showMessage } from "../base/messages.js";
import { copyOf } from "../storage/shelf.js";

const TOUR = "tour.ipynb";
const UNTITLED = "untitled";
const EMPTY = { metadata: {}, cells: [] };

/**
 * A notebook's record without the parts that the page shows.
 * @typedef {Omit<import("../storage/storage.js").NotebookRecord, "notebook" | "title">} About
 */

/** Return a record without stored content. */
function newRecord(title, more = {}) {
  return { id: crypto.randomUUID(), saved: Date.now(), title, ...more };
}

export class Documents {
  #notebook;
  #storage;
  #tab;
  #title;
  #saved;
  /** @type {About} */
  #record = newRecord(UNTITLED);
  #autosave;
  /** @type {Promise<unknown>} */
  #writing = Promise.resolve();
  /**
   * Notebooks that were left and are not stored yet, or whose cells still run, by record id.
   * @type {Map<string, {sheet: import("./sheet.js").Sheet, record: About, title: string}>}
   */
  #away = new Map();
  /** The names of all notebooks, including former ones. */
  #taken = new Set();

  /** `title` is the input with the notebook's name. `saved` shows whether it is stored. */
  constructor({ notebook, storage, tab, title, saved }) {
    this.#notebook = notebook;
    this.#storage = storage;
    this.#tab = tab;
    this.#title = title;
    this.#saved = saved;
    this.#autosave = new Autosave({
      snapshot: () => this.#snapshot(),
      save: (record) => storage.put(record),
      saveAtOnce: (record) => storage.putAtOnce(record),
      report: (state, error) => this.#report(state, error),
    });
    notebook.addEventListener("change", () => this.#touch());
    title.addEventListener("input", () => this.#touch());
    addEventListener("pagehide", () => {
      for (const { record, ...away } of this.#away.values()) {
        storage.putAtOnce(stored({ ...away, record: { ...record, saved: Date.now() } }));
      }
    });
  }

  #snapshot() {
    const { value: title } = this.#title;
    return stored({ record: this.#record, title, sheet: this.#notebook.sheet });
  }

  #touch() {
    const now = Date.now();
    Object.assign(this.#record, { saved: now, used: now, untouched: false });
    this.#autosave.touch();
  }

  #report(state, error) {
    const texts = { saving: "Saving…", saved: "Kept in this browser", failed: "Not kept" };
    this.#say(state, texts[state]);
    if (state === "failed") {
      showMessage(
        `The notebook could not be kept in this browser (${error.message}). Download it.`,
        { kind: "error" },
      );
    }
  }

  #say(state, text) {
    this.#saved.textContent = text;
    this.#saved.dataset.state = state;
  }

  /** Open this tab's last notebook, else the last one that no tab has open, else the tour. */
  async restore() {
    /** @type {import("../storage/storage.js").NotebookRecord | null | undefined} */
    let record = null;
    try {
      await this.#storage.adopt();
      record = await this.#find();
    } catch (error) {
      showMessage(`This browser cannot store notebooks (${error.message}). Download yours.`, {
        kind: "error",
      });
    }
    if (!record) return this.#loadTour();
    try {
      this.#show(record, parseNotebook(record.notebook));
    } catch (error) {
      this.#explain("The notebook kept in this browser", error);
      this.#offerDownload(record);
      await this.#loadTour();
    }
  }

  async #find() {
    const before = await this.#tab.resume();
    const record = before && await this.#storage.get(before.id);
    const list = (await this.#storage.list()).filter(({ deleted }) => !deleted);
    if (record && !record.deleted) {
      if (before?.mine) return record;
      const copy = copyOf(record, list.map(({ title }) => title));
      await this.#tab.claim(copy.id);
      showMessage(`“${record.title}” is open in another tab. This is a copy of it.`);
      return copy;
    }
    const [latest] = list.filter(({ untouched }) => !untouched);
    const free = latest && await this.#tab.claim(latest.id);
    return free ? this.#storage.get(latest.id) : null;
  }

  #offerDownload({ title, notebook }) {
    showMessage("You can still download its file.", {
      stays: true,
      action: { label: "Download", run: () => downloadNotebook(title, notebook) },
    });
  }

  /**
   * Show a notebook as ipynb.js returns it, or a sheet. One that cannot be shown changes nothing.
   * @param {About & {title: string}} record
   */
  #show({ id, title, saved, untouched, disk, trusted }, model) {
    this.#notebook.show(model, { trusted });
    this.#record = { id, saved, untouched, disk, used: Date.now() };
    this.#title.value = title;
    this.#tab.id = id;
    this.#autosave.touch();
    this.#lookAtNames().catch(() => {}); // without storage, no names are taken
  }

  /** Show another notebook, with a way back to the previous one. */
  #goTo(record, model, { quietly = false } = {}) {
    void this.#tab.claim(record.id); // the id of a new record, which no other tab knows
    const before = { record: this.#record, title: this.#title.value, sheet: this.#notebook.sheet };
    const kept = this.#autosave.flush();
    this.#show(record, model);
    this.#leave(before, kept).catch((error) => this.#report("failed", error));
    if (quietly) return;
    showMessage(`“${record.title}” is open.`, {
      action: {
        label: `Back to “${before.title}”`,
        run: () => void this.openKept(before.record.id),
      },
    });
  }

  async #leave(before, kept) {
    const { record: { id }, sheet } = before;
    const isAway = () => this.#away.get(id) === before;
    this.#away.set(id, before);
    await kept;
    if (sheet.isBusy) {
      await sheet.settled();
      if (isAway()) await this.#storage.put(stored(before));
    }
    if (!isAway()) return; // it is shown again
    this.#forget(id);
    sheet.destroy();
  }

  #forget(id) {
    this.#away.delete(id);
    this.#tab.release(id);
  }

  async #loadTour() {
    const record = newRecord("tour", { untouched: true });
    await this.#tab.claim(record.id);
    try {
      this.#show(record, await fetchNotebook(TOUR));
    } catch (error) {
      this.#show({ ...record, title: UNTITLED }, EMPTY);
      this.#explain("The tour", error);
    }
  }

  #explain(what, error) {
    const reason = error instanceof NotebookFormatError ? error.message : String(error);
    showMessage(`${what} could not be opened: ${reason}.`, { kind: "error" });
  }

  new() {
    this.#goTo(this.#newNotebook(), EMPTY);
  }

  /** Create "untitled", or "untitled 2" and so on if the name is taken. */
  #newNotebook() {
    if (!this.#record.untouched) this.#taken.add(this.#title.value);
    let title = UNTITLED;
    for (let n = 2; this.#taken.has(title); n += 1) title = `${UNTITLED} ${n}`;
    return newRecord(title, { untouched: true });
  }

  async #lookAtNames() {
    const list = await this.#storage.list();
    for (const { title, untouched, deleted } of list) {
      if (!untouched && !deleted) this.#taken.add(title);
    }
  }

  tour() {
    return this.openFromSite("tour", TOUR);
  }

  /** Open a notebook of the site. */
  async openFromSite(title, url) {
    try {
      this.#goTo(newRecord(title, { untouched: true }), await fetchNotebook(url));
    } catch (error) {
      this.#explain(`“${title}”`, error);
    }
  }

  /** Let the user choose a notebook file. `pick` is for browsers without file handles. */
  async choose(pick) {
    if (!canPickFiles()) return pick();
    try {
      const handle = await pickNotebook();
      if (handle) await this.open(await handle.getFile(), handle);
    } catch (error) {
      this.#explain("The file", error);
    }
  }

  /**
   * Open a notebook file. Ctrl+S writes to `handle`. An invalid file changes nothing.
   * @param {File} file
   * @param {FileSystemFileHandle | null} handle
   */
  async open(file, handle = null) {
    try {
      const title = file.name.replace(/\.ipynb$/i, "");
      const disk = handle ? { disk: { handle, modified: file.lastModified } } : {};
      this.#goTo(newRecord(title, disk), parseNotebook(await file.text()));
    } catch (error) {
      this.#explain(file.name, error);
    }
  }

  /** Open a stored notebook. */
  async openKept(id) {
    if (id === this.#record.id) return;
    const away = this.#away.get(id);
    if (away) {
      this.#away.delete(id);
      return this.#goTo({ ...away.record, title: away.title }, away.sheet);
    }
    try {
      if (!(await this.#tab.claim(id))) {
        showMessage("That notebook is open in another tab.");
        return;
      }
      const record = await this.#storage.get(id);
      if (!record) throw new Error("it is no longer stored");
      try {
        this.#goTo(record, parseNotebook(record.notebook));
      } catch (error) {
        this.#offerDownload(record);
        throw error;
      }
    } catch (error) {
      if (this.#record.id !== id) this.#tab.release(id);
      this.#explain("The notebook", error);
    }
  }

  /** The id of the open record. */
  get id() {
    return this.#record.id;
  }

  /** Wait until the open notebook is stored. */
  flush() {
    return this.#autosave.flush();
  }

  /** Rename a notebook that this tab has open. Returns false if it has not. */
  async rename(id, title) {
    const away = this.#away.get(id);
    if (away) away.title = title;
    if (id !== this.#record.id) return false;
    this.#title.value = title;
    this.#touch();
    await this.flush();
    return true;
  }

  /** Close a notebook that was deleted. */
  async close(id) {
    if (id === this.#record.id) {
      this.#goTo(this.#newNotebook(), EMPTY, { quietly: true });
      await this.flush(); // store the last changes before it is marked
    }
    this.#forget(id);
  }

  /** Store the notebook in the browser, and write it to the file it was opened from. */
  async save() {
    const record = this.#record;
    // The browser then keeps it when space runs out; it may ask the user.
    void navigator.storage?.persist?.();
    record.untouched = false;
    this.#autosave.touch();
    const kept = this.#autosave.flush();
    if (record.disk) {
      const { title, notebook } = this.#snapshot();
      this.#writing = this.#writing.then(() => this.#writeBack(record, title, notebook));
      await this.#writing;
    }
    await kept;
    announce("The notebook is kept in this browser");
  }

  async #writeBack(record, title, text, how = {}) {
    const { disk, id } = record;
    const { name } = disk.handle;
    try {
      await writeBack(disk, text, how);
      await this.#storage.change(id, { disk });
      showMessage(`Saved to ${name}.`);
    } catch (error) {
      const again = () => this.#writeBack(record, title, text, { overwrite: true });
      showMessage(
        `${name} was not written: ${error.message}. The notebook is kept in this browser.`, {
          kind: "error",
          action: error instanceof ChangedOnDisk
            ? { label: "Overwrite it", run: again }
            : { label: "Download", run: () => downloadNotebook(title, text) },
        },
      );
    }
  }

  /** Download the notebook as .ipynb. */
  download() {
    downloadNotebook(this.#title.value, formatNotebook(this.#notebook.sheet.model));
  }
}

/** Return a notebook in the form of storage.js. */
function stored({ record, title, sheet }) {
  const { isGiven: trusted } = sheet.trust;
  return { ...record, title, trusted, notebook: formatNotebook(sheet.model) };
}

async function fetchNotebook(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  return parseNotebook(await response.text());
}
