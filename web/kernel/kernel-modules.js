/**
 * The kernel's own Python modules, and the bytecode of these and of the packages they import.
 * Compiling takes longer than running, so the browser caches the bytecode for the next boot.
 */
import { openKept } from "./kept.js";

const FOLDER = "/opt/notebook";
const NAMES = [
  "__init__", "archives", "bytecode", "without_terminal", "channel", "outputs", "tracebacks", "waiting",
  "screen", "after_import", "figures", "dark_figures", "dark_templates", "asking", "url_requests", "comms",
  "page_comm", "packages", "display", "processes", "installing", "gpu_work", "timing", "shell",
  "completion", "documentation", "analysis", "outline", "graphics_memory", "gpu_arrays", "variables",
  "restored", "runner",
];

/** Read the modules' texts. */
export const readTexts = () => Promise.all(NAMES.map(async (name) =>
  (await answer(new URL(`notebook_kernel/${name}.py`, import.meta.url))).text()));

/** Write the modules to Python's path. */
export function writeModules(pyodide, texts) {
  pyodide.FS.mkdirTree(`${FOLDER}/notebook_kernel`);
  NAMES.forEach((name, i) =>
    pyodide.FS.writeFile(`${FOLDER}/notebook_kernel/${name}.py`, texts[i]));
  pyodide.runPython(`import sys
if "${FOLDER}" not in sys.path: sys.path.append("${FOLDER}")`);
}

export const BYTECODE = "browsergpu-bytecode";

/** Return the inputs of the bytecode, its key: those of the packages, and the modules' texts. */
export const bytecodeSources = async ({ lockFile, wheel }, texts) =>
  [lockFile, await (await answer(new URL(wheel))).arrayBuffer(), ...texts];

/** Read the bytecode. */
export async function readModules(files, texts) {
  const place = await openKept(BYTECODE, await bytecodeSources(files, texts), files.onSite);
  return new KernelModules(texts, place, await place.read());
}

/** Return the bytecode of the packages that the kernel imports but the snapshot does not have. */
export function makeBytecode(pyodide, texts) {
  writeModules(pyodide, texts);
  const finish = pyodide.pyimport("notebook_kernel.bytecode").record();
  pyodide.pyimport("browsergpu");
  return finish().toJs();
}

async function answer(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url.pathname}: HTTP ${response.status}`);
  return response;
}

class KernelModules {
  #texts;
  #place;
  #archive;
  /** @type {any} */
  #finish = null;

  constructor(texts, place, archive) {
    this.#texts = texts;
    this.#place = place;
    this.#archive = archive;
  }

  /** Write the modules to Python's path. From now on Python records what it compiles. */
  install(pyodide) {
    writeModules(pyodide, this.#texts);
    const bytecode = pyodide.pyimport("notebook_kernel.bytecode");
    const isThere = this.#archive && bytecode.restore(this.#archive);
    if (!isThere && this.#place.canStore) this.#finish = bytecode.record();
    bytecode.destroy();
  }

  /** Store the compiled modules, if there were none. */
  async keep() {
    if (!this.#finish) return;
    await this.#place.write(this.#finish().toJs());
    this.#finish.destroy();
    this.#finish = null;
  }
}
