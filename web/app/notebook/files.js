/** Files: dropped or chosen by the user, or in Python's home folder. */
import { element, formatBytes } from "../base/dom.js";
import { download } from "../base/downloads.js";
import { announce, showMessage } from "../base/messages.js";

const MAX_BYTES = 1024 ** 3;
const MOST_LISTED = 200;
const HOME = "/home/pyodide/";
const IMAGE = /\.(png|jpe?g|gif|webp|bmp|tiff?)$/i;

/** Return a name without folders or control characters. */
export function safeName(name) {
  const plain = name.split(/[\\/]/).pop().replace(/\p{Cc}/gu, "").trim();
  return plain === "" || plain === "." || plain === ".." ? "file" : plain;
}

/** Return code that reads a file of this name. */
export function readingCode(name) {
  const path = JSON.stringify(name);
  if (IMAGE.test(name)) {
    return "import numpy as np\nfrom PIL import Image\n\n"
      + `image = np.asarray(Image.open(${path}).convert("RGB"))\nimage.shape`;
  }
  if (/\.np[yz]$/i.test(name)) return `import numpy as np\n\ndata = np.load(${path})\ndata`;
  return `from pathlib import Path\n\ndata = Path(${path}).read_bytes()\nlen(data)`;
}

/** Return a path in one line: where it is too long, its folders are cut first. */
function pathBox(path) {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return element("code", { className: "file-line", title: HOME + path },
    element("span", {}, path.slice(0, path.length - name.length)),
    element("span", { className: "file-name" }, name));
}

export class KernelFiles {
  #kernel;
  #list;
  #insert;
  #isShown;
  /** @type {Map<string, Blob>} uploads that are not stored yet; a fresh kernel gets them */
  #brought = new Map();
  #waiting = new Set();
  /** @type {Map<string, Blob>} replaced files of the same names, until they are reported */
  #replaced = new Map();
  #files = [];
  #told = new Set();

  /**
   * `list` shows the files while `isShown()`. `insert(code)` adds a cell with code to the notebook.
   */
  constructor({ kernel, list, insert, isShown }) {
    this.#kernel = kernel;
    this.#isShown = isShown;
    this.#list = list;
    this.#insert = insert;
    kernel.addEventListener("files", ({ detail }) => this.#take(detail));
    kernel.addEventListener("ready", () => {
      for (const name of this.#brought.keys()) void this.#write(name);
    });
    kernel.addEventListener("download", ({ detail: { name, bytes } }) => download(name, bytes));
  }

  /** Write files to the kernel's home folder and list them. */
  add(files) {
    for (const file of files) {
      if (file.size > MAX_BYTES) {
        showMessage(
          `${file.name} has ${formatBytes(file.size)}; files up to ${formatBytes(MAX_BYTES)} fit `
          + "into the kernel's file system.", { kind: "error" },
        );
        continue;
      }
      this.#bring(safeName(file.name), file);
    }
  }

  #bring(path, blob) {
    this.#brought.set(path, blob);
    if (this.#kernel.state === "loading") this.#wait(path);
    else void this.#write(path);
  }

  #wait(path) {
    this.#waiting.add(path);
    this.#show();
  }

  async #write(path) {
    const blob = this.#brought.get(path);
    if (!blob) return;
    this.#wait(path);
    try {
      const written = await this.#kernel.writeFile(path, await blob.arrayBuffer());
      // A restart intervened. The fresh kernel gets the file when it is ready.
      if (written === null) return;
      announce(`${path} is now at ${written.whole}`);
      if (written.before) this.#replaced.set(path, new Blob([written.before]));
    } catch (error) {
      this.#brought.delete(path);
      showMessage(`${path} could not be handed to Python: ${error.message}`, { kind: "error" });
    }
    this.#waiting.delete(path);
    this.#forgetKept();
    this.#show();
    if (this.#waiting.size === 0) this.#tellReplaced();
  }

  /** Report files that came together in one message. */
  #tellReplaced() {
    const before = [...this.#replaced];
    this.#replaced.clear();
    if (before.length === 0) return;
    const what = before.length === 1
      ? `The file ${before[0][0]} was replaced.` : `${before.length} files were replaced.`;
    const undo = () => before.forEach(([path, blob]) => this.#bring(path, blob));
    showMessage(what, { action: { label: "Undo", run: undo } });
  }

  /** Update the list from the kernel's message. */
  #take({ files }) {
    this.#files = files.sort((a, b) => a.path.localeCompare(b.path));
    this.#forgetKept();
    for (const { path, problem } of files) {
      if (!problem || this.#told.has(path)) continue;
      this.#told.add(path);
      showMessage(
        `${path} is not kept in this browser (${problem}): it is gone when the page is closed. `
        + "Download it.", { kind: "error" },
      );
    }
    this.#show();
  }

  #forgetKept() {
    for (const { path, problem } of this.#files) {
      if (!problem && !this.#waiting.has(path)) this.#brought.delete(path);
    }
  }

  async #download(path) {
    const bytes = await this.#ask(path, () => this.#kernel.readFile(path));
    if (bytes) download(path.split("/").pop(), bytes);
  }

  async #delete(path) {
    this.#brought.delete(path);
    const bytes = await this.#ask(path, () => this.#kernel.deleteFile(path));
    if (!bytes) return;
    const undo = { label: "Undo", run: () => this.#bring(path, new Blob([bytes])) };
    showMessage(`${path} is deleted.`, { action: undo });
  }

  /** Return the kernel's answer, which may be delayed; null if it cannot answer. */
  async #ask(path, question) {
    if (this.#kernel.state === "busy") announce(`${path} comes when Python is idle`);
    try {
      return await question();
    } catch (error) {
      showMessage(`${path}: ${error.message}`, { kind: "error" });
      return null;
    }
  }

  #button(label, path, run) {
    const button = element("button", { type: "button", className: "link" }, label);
    // The visible text comes first, as voice control expects.
    button.setAttribute("aria-label", `${label}: ${path}`);
    button.addEventListener("click", run);
    return button;
  }

  #show() {
    if (this.#isShown()) this.show();
  }

  /** Fill the list. */
  show() {
    const listed = new Set(this.#files.map(({ path }) => path));
    const coming = [...this.#waiting].filter((path) => !listed.has(path));
    this.#list.replaceChildren(
      ...coming.map((path) => element("li", {},
        element("span", { className: "file-path" }, `${path} waits for Python`))),
      ...this.#files.slice(0, MOST_LISTED).map((file) => this.#row(file)),
    );
    const more = this.#files.length - MOST_LISTED;
    if (more > 0) this.#list.append(element("li", {}, `and ${more} more`));
  }

  #row({ path, size, problem }) {
    const waits = this.#waiting.has(path);
    const place = waits ? element("span", {}, `${path} waits for Python`) : pathBox(path);
    place.classList.add("file-path");
    const about = formatBytes(size) + (problem ? " · not kept" : "");
    return element("li", {}, place,
      element("span", { className: "file-size", title: problem }, about),
      this.#button("Read it in a cell", path, () => this.#insert(readingCode(path))),
      this.#button("Download", path, () => void this.#download(path)),
      this.#button("Delete", path, () => void this.#delete(path)));
  }
}

/**
 * Return the dropped files, each with a promise of its handle, or null if the browser has none.
 * Call it while the event is handled.
 */
function droppedFiles({ items = [] }) {
  return [...items].flatMap((item) => {
    const file = item.getAsFile();
    return file ? [{ file, handle: item.getAsFileSystemHandle?.().catch(() => null) ?? null }] : [];
  });
}

/** Call `take(files)` for drops anywhere on the page. `veil` is shown during a drag. */
export function acceptDrops(veil, take) {
  const hasFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
  addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    veil.hidden = false;
  });
  addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) veil.hidden = true;
  });
  addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    veil.hidden = true;
    take(droppedFiles(/** @type {any} */ (event.dataTransfer)));
  });
}
