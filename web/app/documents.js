/** Opening, saving and keeping notebooks: between the notebook, the disk and the browser. */
import { autosave } from "./autosave.js";
import { element } from "./dom.js";
import { NotebookFormatError, formatNotebook, parseNotebook } from "./ipynb.js";
import { showMessage } from "./messages.js";

const TOUR = "/tour.ipynb";
const EMPTY = { metadata: {}, cells: [] };

export class Documents {
  #notebook;
  #storage;
  #title;
  #touch = () => {};

  /** `title` is the input with the notebook's name; `saved` the place that says it is kept. */
  constructor({ notebook, storage, title, saved }) {
    this.#notebook = notebook;
    this.#storage = storage;
    this.#title = title;
    const present = () => [this.#title.value, formatNotebook(this.#notebook.model)];
    this.#touch = autosave({
      save: () => this.#storage.save(...present()),
      saveAtOnce: () => this.#storage.saveAtOnce(...present()),
      report: (state, error) => this.#report(state, error, saved),
    });
    notebook.addEventListener("change", () => this.#touch());
    title.addEventListener("input", () => this.#touch());
  }

  #report(state, error, saved) {
    const texts = { saving: "Saving…", saved: "Kept in this browser", failed: "Not kept" };
    saved.textContent = texts[state];
    saved.dataset.state = state;
    if (state === "failed") {
      showMessage(
        `The notebook could not be kept in this browser (${error.message}). Save it to a file.`,
        { kind: "error" },
      );
    }
  }

  /** The notebook that was open last, else the tour. */
  async restore() {
    /** @type {{title: string, notebook: string} | null} */
    let record = null;
    try {
      record = await this.#storage.load();
      await this.#storage.prune();
    } catch (error) {
      showMessage(`This browser keeps no notebooks (${error.message}); save yours to a file.`, {
        kind: "error",
      });
    }
    if (!record) return this.#loadTour();
    try {
      this.#show(record.title, parseNotebook(record.notebook));
    } catch (error) {
      this.#explain("The notebook kept in this browser", error);
      this.#offerDownload(record);
      await this.#loadTour();
    }
  }

  #offerDownload({ title, notebook }) {
    showMessage("Its file can still be had as it is.", {
      stays: true,
      action: { label: "Download", run: () => download(`${title}.ipynb`, notebook) },
    });
  }

  #show(title, model) {
    this.#title.value = title;
    this.#notebook.load(model);
  }

  /** Show another notebook, with a way back to the one before. */
  #replace(title, model) {
    const before = { title: this.#title.value, model: this.#notebook.model };
    this.#show(title, model);
    showMessage(`“${title}” is open.`, {
      action: {
        label: `Back to “${before.title}”`,
        run: () => this.#show(before.title, before.model),
      },
    });
  }

  async #loadTour() {
    try {
      this.#show("tour", await fetchNotebook(TOUR));
    } catch (error) {
      this.#show("untitled", EMPTY);
      this.#explain("The tour", error);
    }
  }

  #explain(what, error) {
    const reason = error instanceof NotebookFormatError ? error.message : String(error);
    showMessage(`${what} could not be opened: ${reason}.`, { kind: "error" });
  }

  new() {
    this.#replace("untitled", EMPTY);
  }

  tour() {
    return this.openFromSite("tour", TOUR);
  }

  /** Open a notebook that comes with the page. */
  async openFromSite(title, url) {
    try {
      this.#replace(title, await fetchNotebook(url));
    } catch (error) {
      this.#explain(`“${title}”`, error);
    }
  }

  /** Open a notebook file; a bad one leaves the present notebook alone. */
  async open(file) {
    try {
      this.#replace(file.name.replace(/\.ipynb$/i, ""), parseNotebook(await file.text()));
    } catch (error) {
      this.#explain(file.name, error);
    }
  }

  /** Download the notebook as .ipynb. */
  save() {
    const title = this.#title.value.trim() || "untitled";
    download(`${title}.ipynb`, formatNotebook(this.#notebook.model));
  }
}

async function fetchNotebook(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  return parseNotebook(await response.text());
}

function download(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "application/x-ipynb+json" }));
  element("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
