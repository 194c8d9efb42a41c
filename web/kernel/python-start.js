/**
 * Starts Python with the kernel's modules. The start takes seconds and always ends in the same
 * memory. The browser stores a snapshot of that memory (memory-maker.js makes it) for the next boot.
 */
import { loadPyodide } from "../pyodide/pyodide.mjs";
import { addressOf } from "./addresses.js";
import { PURE_PACKAGES } from "./boot-files.js";
import { openKept } from "./kept.js";
import { readTexts, writeModules } from "./kernel-modules.js";
import { describing, restoring } from "./memory-objects.js";

export const HOME = "/home/pyodide";

const ENVIRONMENT = { HOME, MPLBACKEND: "module://matplotlib_inline.backend_inline" };

const options = (lockFile) => ({
  indexURL: addressOf("pyodide/"),
  packageBaseUrl: addressOf("pyodide/"),
  lockFileContents: lockFile,
  env: { ...ENVIRONMENT }, // Pyodide writes into it.
  stdin: () => null,
});

/** Modules in the snapshot. None may hold references to the page, nor have compiled code. */
const IMPORTS = [
  "notebook_kernel.runner",
  "asyncio", "cProfile", "concurrent.futures", "dataclasses", "decimal", "email.parser",
  "fractions", "getpass", "hashlib", "html.parser", "http.client", "importlib.metadata",
  "importlib.resources", "inspect", "json", "logging.config", "pathlib", "pdb", "pickle",
  "platform", "pprint", "random", "runpy", "shlex", "shutil", "sqlite3", "subprocess",
  "tempfile", "tokenize", "typing", "zipfile",
];

const openMemory = (lockFile, texts) =>
  openKept("browsergpu-python", [JSON.stringify([ENVIRONMENT, IMPORTS, texts]), lockFile]);

/** Return the cache entry of the memory and its bytes, if any. Returns null without a cache. */
export async function readMemory(lockFile, texts) {
  const place = await openMemory(lockFile, texts);
  return place && { place, bytes: await place.read() };
}

/** Start Python with these packages (names or addresses), from the snapshot if there is one. */
export async function startPython(lockFile, memory, packages) {
  const start = (more) => loadPyodide(/** @type {any} */ (
    { ...options(lockFile), packages, ...more }));
  if (!memory?.bytes) return start();
  try {
    const python = await start(restoring(memory.bytes));
    // Otherwise each boot would begin with the same random numbers.
    python.runPython("import random; random.seed(); del random");
    return python;
  } catch (error) {
    console.info(`Python starts anew: ${error}`);
    await memory.place.clear();
    memory.bytes = null;
    return start();
  }
}

/** Store the memory of a Python that has just started. */
export async function keepMemory(lockFile) {
  const texts = await readTexts();
  const python = await loadPyodide(/** @type {any} */ (
    { ...options(lockFile), packages: PURE_PACKAGES, _makeSnapshot: true }));
  writeModules(python, texts);
  python.runPython(`
import gc
for name in ${JSON.stringify(IMPORTS)}:
    __import__(name)
gc.collect()
del gc, name`);
  // Pyodide requires that no packages are loaded. Their files are not in the memory.
  for (const name of Object.keys(python.loadedPackages)) delete python.loadedPackages[name];
  const bytes = python.makeMemorySnapshot(/** @type {any} */ ({ serializer: describing(python) }));
  await (await openMemory(lockFile, texts))?.write(bytes);
}
