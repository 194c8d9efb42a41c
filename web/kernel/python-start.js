/**
 * Starts Python with the kernel's modules. The start takes seconds and always ends in the same
 * memory, of which the site has a snapshot. Otherwise memory-maker.js makes one for the next boot.
 */
import { loadPyodide } from "../pyodide/pyodide.mjs";
import { addressOf } from "./addresses.js";
import { PURE_PACKAGES } from "./boot-files.js";
import { openKept } from "./kept.js";
import { readTexts, writeModules } from "./kernel-modules.js";
import { describing, restoring } from "./memory-objects.js";

export const HOME = "/home/pyodide";
const PYODIDE = addressOf("pyodide/");
/** The program's name in a browser. */
const PROGRAM = "./this.program";

const ENVIRONMENT = { HOME, MPLBACKEND: "module://matplotlib_inline.backend_inline" };

const options = (lockFile, folder) => ({
  indexURL: folder,
  packageBaseUrl: folder,
  lockFileContents: lockFile,
  env: { ...ENVIRONMENT }, // Pyodide writes into it.
  stdin: () => null,
});

/** Modules in the snapshot. None may hold references to the page, nor have compiled code. */
const IMPORTS = [
  "notebook_kernel.restored", "notebook_kernel.runner",
  "asyncio", "cProfile", "concurrent.futures", "dataclasses", "decimal", "email.parser",
  "fractions", "getpass", "hashlib", "html.parser", "http.client", "importlib.metadata",
  "importlib.resources", "inspect", "json", "logging.config", "pathlib", "pdb", "pickle",
  "platform", "pprint", "random", "runpy", "shlex", "shutil", "sqlite3", "subprocess",
  "tempfile", "tokenize", "typing", "zipfile",
];

export const MEMORY = "browsergpu-python";

/** Return the inputs of the memory, its key. Python's memory notes whether it can be suspended. */
export const memorySources = (lockFile, texts) =>
  [JSON.stringify([ENVIRONMENT, IMPORTS, texts, "Suspending" in WebAssembly]), lockFile];

/** Return the memory's file. */
export const openMemory = ({ lockFile, onSite }, texts) =>
  openKept(MEMORY, memorySources(lockFile, texts), onSite);

/**
 * Start Python with these packages (names or addresses) from the bytes of a snapshot. `folder` has
 * Pyodide; in Node.js, it is a path.
 */
export async function startFromMemory(lockFile, bytes, packages, folder = PYODIDE) {
  const python = await loadPyodide(/** @type {any} */ (
    { ...options(lockFile, folder), packages, ...restoring(bytes) }));
  const { _module: module } = /** @type {any} */ (python);
  const names = module._tzname / module.HEAPU32.BYTES_PER_ELEMENT;
  module.__tzset_js(
    module._timezone, module._daylight, module.HEAPU32[names], module.HEAPU32[names + 1]);
  // As in Emscripten, which sets it only once.
  const language = `${navigator.language.replace("-", "_")}.UTF-8`;
  const restored = python.pyimport("notebook_kernel.restored");
  restored.update(language, navigator.userAgent);
  restored.destroy();
  return python;
}

/** Start Python with these packages, from the memory's file if it can. */
export async function startPython(lockFile, memory, packages) {
  let bytes;
  while ((bytes = await memory.read())) {
    try {
      return await startFromMemory(lockFile, bytes, packages);
    } catch (error) {
      console.info(`Python cannot start from its snapshot: ${error}`);
      await memory.drop();
    }
  }
  return loadPyodide({ ...options(lockFile, PYODIDE), packages });
}

/** Store the memory of a Python that has just started. */
export async function keepMemory(lockFile) {
  const texts = await readTexts();
  const memory = await openMemory({ lockFile, onSite: [] }, texts);
  await memory.write(await makeMemory(lockFile, texts));
}

/** Return the memory of a Python that has just started. `folder` is as in startFromMemory. */
export async function makeMemory(lockFile, texts, folder = PYODIDE) {
  const python = await loadPyodide(/** @type {any} */ (
    { ...options(lockFile, folder), packages: PURE_PACKAGES, _makeSnapshot: true, _sysExecutable: PROGRAM }
  ));
  writeModules(python, texts);
  python.runPython(`
import gc
for name in ${JSON.stringify(IMPORTS)}:
    __import__(name)
del name
from notebook_kernel.archives import unpack_wheels
unpack_wheels()
del unpack_wheels
gc.collect()
del gc`);
  // Pyodide requires that no packages are loaded. Their files are not in the memory.
  for (const name of Object.keys(python.loadedPackages)) delete python.loadedPackages[name];
  return python.makeMemorySnapshot(/** @type {any} */ ({ serializer: describing(python) }));
}
