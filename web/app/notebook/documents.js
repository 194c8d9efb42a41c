/** The open notebook: its record, its origin, and its storage. */
import { Autosave } from "../storage/autosave.js";
import { ChangedOnDisk, canPickFiles, pickNotebook, writeBack } from "../storage/disk-file.js";
import { downloadNotebook } from "../base/downloads.js";
import { NotebookFormatError, formatNotebook, parseNotebook } from "../cells/ipynb.js";
import { announce, showMessage } from "../base/messages.js";
import { LeftNotebooks } from "./left-notebooks.js";
import { newRecord, stored } from "../storage/records.js";
import { copyOf } from "../storage/shelf.js";
import { Titles } from "../storage/titles.js";
import { fetchNotebook } from "../sharing/addresses.js";
import { requestedNotebook, showOrigin } from "../sharing/visitors.js";

const TOUR = "tour.ipynb";
const UNTITLED = "untitled";
const EMPTY = { metadata: {}, cells: [] };

/** @typedef {import("../storage/records.js").About} About */

export class Documents {
  #notebook;
  #kernels;
  #storage;
  #tab;
  #title;
  #saved;
  /** @type {About} */
  #record = newRecord(UNTITLED);
  #autosave;
  /** @type {Promise<unknown>} */
  #writing = Promise.resolve();
  #left;
  #titles;
  #origin;

  /**
   * `title` is the input with the notebook's name. `saved` shows whether it is stored, and `origin`
   * where it is from.
   */
  constructor({ notebook, kernels, storage, tab, title, saved, origin }) {
    this.#notebook = notebook;
    this.#kernels = kernels;
    this.#storage = storage;
    this.#titles = new Titles(storage);
    this.#tab = tab;
    this.#title = title;
    this.#saved = saved;
    this.#origin = origin;
    this.#autosave = new Autosave({
      snapshot: () => this.#snapshot(),
      save: (record) => storage.put(record),
      saveAtOnce: (record) => storage.putAtOnce(record),
      report: (state, error) => this.#report(state, error),
    });
    notebook.addEventListener("change", () => this.#touch());
    title.addEventListener("input", () => this.#touch());
    title.addEventListener("change", () => void this.#settleTitle());
    this.#left = new LeftNotebooks({
      notebook, kernels, storage, report: (error) => this.#report("failed", error),
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

  /**
   * Open the notebook that the address asks for, else this tab's last one, else the last one unless
   * another tab has it open, else the tour.
   */
  async restore() {
    const opened = await this.openRequested({ first: true });
    /** @type {import("../storage/storage.js").NotebookRecord | null | undefined} */
    let record = null;
    try {
      await this.#storage.adopt();
      if (!opened) record = await this.#find();
    } catch (error) {
      showMessage(`This browser cannot store notebooks (${error.message}). Download yours.`, {
        kind: "error",
      });
    }
    if (opened) return;
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
    if (!latest) return null;
    if (await this.#tab.claim(latest.id)) return this.#storage.get(latest.id);
    showMessage(`“${latest.title}” is open in another tab.`, {
      action: { label: "Open a copy", run: () => void this.#openCopy(latest.id) },
    });
    return null;
  }

  /** Open a copy of a notebook that another tab has open. */
  async #openCopy(id) {
    try {
      const list = await this.#storage.list();
      const copy = copyOf(await this.#stored(id), list.map(({ title }) => title));
      this.#goTo(copy, parseNotebook(copy.notebook));
    } catch (error) {
      this.#explain("The copy", error);
    }
  }

  async #stored(id) {
    await this.#storage.adopt(); // the tab that had it may have been closed just now
    const record = await this.#storage.get(id);
    if (!record) throw new Error("it is no longer stored");
    return record;
  }

  /** Whether no other tab has changed the open notebook while this page was left. */
  async isCurrent() {
    const { id, saved } = this.#record;
    const stored = await this.#storage.get(id).catch(() => undefined);
    return !stored?.deleted && (stored?.saved ?? 0) <= saved;
  }

  #offerDownload({ title, notebook }) {
    showMessage("You can still download its file.", {
      stays: true,
      action: { label: "Download", run: () => downloadNotebook(title, notebook) },
    });
  }

  /**
   * Show a notebook as ipynb.js returns it, or a sheet. If it cannot be shown, nothing changes.
   * @param {About & {title: string}} record
   */
  #show({ id, title, saved, untouched, disk, trusted, made, origin }, model) {
    const before = this.#title.value;
    this.#title.value = title; // the page's title follows when the sheet is shown
    try {
      this.#notebook.show(model, { trusted, made, kernel: () => this.#kernels.show(id) });
    } catch (error) {
      this.#title.value = before;
      throw error;
    }
    this.#record = { id, saved, untouched, disk, origin, used: Date.now() };
    showOrigin(this.#origin, origin);
    this.#tab.id = id;
    this.#autosave.touch();
    this.#titles.read().catch(() => {}); // without storage, no names are taken
  }

  /** Show another notebook, with a way back to the previous one. */
  #goTo(record, model, { quietly = false } = {}) {
    void this.#tab.claim(record.id); // the id of a new record, which no other tab knows
    const before = { record: this.#record, title: this.#title.value, sheet: this.#notebook.sheet };
    if (!before.record.untouched) this.#titles.note(before.record.id, before.title);
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
    const { id } = before.record;
    if (await this.#left.keep(before, kept)) this.#tab.release(id);
  }

  async #loadTour() {
    const record = newRecord("tour", { untouched: true });
    await this.#tab.claim(record.id);
    try {
      this.#show(record, await ofSite(TOUR));
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

  /** Return a record of a new notebook, whose name no other notebook has. */
  #recordOf(title, more = {}) {
    return newRecord(this.#titles.free(title), { untouched: true, ...more });
  }

  #newNotebook() {
    if (!this.#record.untouched) this.#titles.note(this.#record.id, this.#title.value);
    return this.#recordOf(UNTITLED);
  }

  /** Make the notebook's name unique, if the user cleared it or chose that of another notebook. */
  async #settleTitle() {
    const { id } = this.#record;
    await this.#titles.read().catch(() => {}); // another tab may have named notebooks
    if (id !== this.#record.id) return;
    const wanted = this.#title.value;
    const title = this.#titles.free(wanted, id);
    if (title !== wanted) {
      this.#title.value = title;
      this.#touch();
    }
    void this.#autosave.flush(); // other tabs then know the name
    if (title === wanted || !wanted.trim()) return;
    showMessage(`Another notebook is named “${wanted.trim()}”. This one is “${title}”.`);
  }

  tour() {
    return this.openFromSite("tour", TOUR);
  }

  /** Open a notebook of the site, whose saved outputs are trusted. */
  async openFromSite(title, url) {
    try {
      this.#goTo(this.#recordOf(title, { trusted: true }), await ofSite(url));
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
      const record = this.#recordOf(title, { untouched: false, ...disk });
      this.#goTo(record, parseNotebook(await file.text()));
    } catch (error) {
      this.#explain(file.name, error);
    }
  }

  /**
   * Open a copy of the notebook that the page's address asks for. Returns whether there is one. It
   * is the `first` notebook while the page loads.
   */
  async openRequested({ first = false } = {}) {
    const found = await requestedNotebook();
    if (!found) return false;
    await this.#titles.read().catch(() => {});
    try {
      const model = parseNotebook(found.text);
      const record = this.#recordOf(found.title, { origin: found.origin });
      if (first) {
        await this.#tab.claim(record.id);
        this.#show(record, model);
      } else this.#goTo(record, model);
      return true;
    } catch (error) {
      this.#explain(`“${found.title}”`, error);
      return false;
    }
  }

  /** Open a stored notebook. */
  async openKept(id) {
    if (id === this.#record.id) return;
    const left = this.#left.take(id);
    if (left) return this.#goTo({ ...left.record, title: left.title }, left.sheet);
    try {
      if (!(await this.#tab.claim(id))) {
        showMessage("That notebook is open in another tab.");
        return;
      }
      const record = await this.#stored(id);
      try {
        this.#goTo(record, parseNotebook(record.notebook));
        if (record.deleted) showMessage(`“${record.title}” had been deleted. It is in the list again.`);
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

  /** The title of the open notebook, or of one that was left. */
  titleOf(id) {
    const title = id === this.#record.id ? this.#title.value : this.#left.get(id)?.title;
    return title?.trim() || UNTITLED;
  }

  /** Wait until the open notebook, and those that were left, are stored. */
  async flush() {
    await Promise.all([this.#autosave.flush(), this.#left.flush()]);
  }

  /** Rename a notebook that this tab has open. Returns false if it has not. */
  async rename(id, title) {
    const left = this.#left.get(id);
    if (left) left.title = title;
    this.#titles.note(id, title);
    this.#kernels.changed();
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
    this.#left.close(id);
    this.#tab.release(id);
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

  /** The open notebook's name, content, and origin if it is an unchanged copy. */
  get shown() {
    const { untouched, origin } = this.#record;
    return {
      title: this.#title.value, sheet: this.#notebook.sheet, origin: untouched ? origin : undefined,
    };
  }

  /** Download the notebook as .ipynb. */
  download() {
    downloadNotebook(this.#title.value, formatNotebook(this.#notebook.sheet.model));
  }
}

/** Return a notebook of this site. */
async function ofSite(path) {
  return parseNotebook((await fetchNotebook(new URL(path, document.baseURI))).text);
}
