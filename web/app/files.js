/** Files that the person drops or chooses: notebooks are opened, the rest goes to Python. */
import { element, formatBytes } from "./dom.js";
import { announce, showMessage } from "./messages.js";

const MAX_BYTES = 1024 ** 3;
const IMAGE = /\.(png|jpe?g|gif|webp|bmp|tiff?)$/i;

/** A name without folders or control characters. */
export function safeName(name) {
  const plain = name.split(/[\\/]/).pop().replace(/\p{Cc}/gu, "").trim();
  return plain === "" || plain === "." || plain === ".." ? "file" : plain;
}

/** Code that reads a file of this name. */
export function readingCode(name) {
  const path = JSON.stringify(name);
  if (IMAGE.test(name)) {
    return "import numpy as np\nfrom PIL import Image\n\n"
      + `image = np.asarray(Image.open(${path}).convert("RGB"))\nimage.shape`;
  }
  if (/\.np[yz]$/i.test(name)) return `import numpy as np\n\ndata = np.load(${path})\ndata`;
  return `from pathlib import Path\n\ndata = Path(${path}).read_bytes()\nlen(data)`;
}

export class KernelFiles {
  #kernel;
  #list;
  #insert;
  #files = new Map();

  /** `insert(code)` puts a cell with code into the notebook. */
  constructor({ kernel, list, insert }) {
    this.#kernel = kernel;
    this.#list = list;
    this.#insert = insert;
    // A fresh kernel has an empty file system: hand it what the person had brought.
    kernel.addEventListener("ready", () => {
      for (const file of this.#files.values()) void this.#write(file);
    });
  }

  /** Put files into the kernel's home folder and list them. */
  add(files) {
    for (const file of files) {
      if (file.size > MAX_BYTES) {
        showMessage(
          `${file.name} has ${formatBytes(file.size)}; files up to ${formatBytes(MAX_BYTES)} fit `
          + "into the kernel's file system.", { kind: "error" },
        );
        continue;
      }
      const kept = { name: safeName(file.name), blob: file };
      this.#files.set(kept.name, kept);
      if (this.#kernel.state !== "loading") void this.#write(kept);
    }
  }

  async #write(file) {
    this.#show(file, element("span", {}, `${file.name} waits for Python`));
    try {
      const bytes = await file.blob.arrayBuffer();
      const path = await this.#kernel.writeFile(file.name, bytes);
      // A restart came in between; the fresh kernel gets the file when it is ready.
      if (path === null) return;
      this.#show(file, element("code", {}, path), this.#readButton(file.name));
      announce(`${file.name} is now at ${path}`);
    } catch (error) {
      showMessage(`${file.name} could not be handed to Python: ${error.message}`, {
        kind: "error",
      });
    }
  }

  #readButton(name) {
    const button = element("button", { type: "button", className: "link" }, "Read it in a cell");
    button.setAttribute("aria-label", `Read ${name} in a cell`);
    button.addEventListener("click", () => this.#insert(readingCode(name)));
    return button;
  }

  #show({ name, blob }, place, ...actions) {
    place.className = "file-path";
    const size = element("span", { className: "file-size" }, formatBytes(blob.size));
    const item = element("li", {}, place, size, ...actions);
    item.dataset.name = name;
    const old = [...this.#list.children].find((one) => one.dataset.name === name);
    if (old) old.replaceWith(item);
    else this.#list.append(item);
  }
}

/**
 * The files that were dropped, each with its handle: what a promise gives, or null where the browser
 * has none. To be asked while the event is being handled.
 */
function droppedFiles({ items = [] }) {
  return [...items].flatMap((item) => {
    const file = item.getAsFile();
    return file ? [{ file, handle: item.getAsFileSystemHandle?.().catch(() => null) ?? null }] : [];
  });
}

/** Call `take(files)` with what is dropped anywhere on the page; `veil` shows meanwhile. */
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
