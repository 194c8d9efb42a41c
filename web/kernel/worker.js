/** The kernel: Pyodide in a module worker. The page sends one request at a time. */
import { addressOf } from "./addresses.js";
import { PACKAGES, bootFiles, bootSizes } from "./boot-files.js";
import { watchDownloads } from "./download-progress.js";
import { describeAdapter } from "./adapter.js";
import { Answers } from "./answers.js";
import { beginRun, watchGpu } from "./gpu-watch.js";
import { HomeFolder, readKept } from "./home-folder.js";
import { Interruption } from "./interruption.js";
import { readModules } from "./kernel-modules.js";
import { keepPackages } from "./package-cache.js";
import { Pictures } from "./pictures.js";
import { HOME, readMemory, startMaker, startPython } from "./python-start.js";

/** Someone who has just opened the page is let begin first. */
const IDLE_MS = 5000;
const INTERRUPTED = {
  ok: false, name: "KeyboardInterrupt", message: "", seconds: 0,
  traceback: "KeyboardInterrupt\n", full: "KeyboardInterrupt\n", shortened: false,
};

let answers;
/** @type {HomeFolder} */
let home;
/** @type {Pictures} */
let pictures;
let interruption;
let pyodide;
let runner;

const post = (message, transfer = []) => self.postMessage(message, transfer);

/** Call a method of runner.py's Runner other than `run`; no interrupt meets it. */
const call = (method, ...values) => interruption.aside(() => runner[method](...values));

async function boot({ interruptBuffer, answerBuffer }) {
  pictures = new Pictures(
    ({ run: id, canvas, picture }) => post({ type: "picture", id, canvas, picture }, [picture]),
    () => call("active_run"),
  );
  // browsergpu looks here for a canvas: a worker has no document to search.
  globalThis.browsergpuCanvases = /** @type {any} */ (pictures);
  // And here for the translator of SPIR-V, which it loads when it meets some.
  globalThis.browsergpuNagaUrl = addressOf("vendor/naga-wasm/dist/index.js");

  keepPackages();
  // And here for what takes a download: a worker has no document to click in.
  globalThis.browsergpuDownload = (name, bytes) => post({ type: "download", name, bytes });

  const homeFiles = readKept();
  post({ type: "boot", stage: "Looking up the files" });
  const files = await bootFiles();
  const reading = readModules(files);
  reading.catch(() => {}); // whoever awaits it below hears of it
  const memory = await readMemory(files.lockFile);
  // What comes from the browser's cache needs no progress, and is faster unwatched.
  const downloads = memory?.bytes ? null
    : watchDownloads(await bootSizes(files), (progress) => post({ type: "boot", ...progress }));
  post({ type: "boot", stage: "Starting Python" });
  try {
    pyodide = await startPython(files.lockFile, memory, [...PACKAGES, files.wheel]);
  } finally {
    downloads?.stop();
  }

  // After a fatal error, such as an overflown stack, pending promises never settle.
  pyodide._api.on_fatal = (error) =>
    post({ type: "failed", request: "run", id: null, message: String(error) });
  home = new HomeFolder(pyodide.FS, HOME, await homeFiles, (files) => post({ type: "files", files }));
  interruption = new Interruption(pyodide, interruptBuffer);
  answers = new Answers(answerBuffer);
  const modules = await reading;
  modules.install(pyodide);
  const module = pyodide.pyimport("notebook_kernel.runner");
  runner = module.start((text) => post(JSON.parse(text)), interruption, answers,
    loadPackages);
  module.destroy();
  home.tell();
  post({
    type: "ready",
    python: pyodide.runPython("import platform; platform.python_version()"),
    pyodide: pyodide.version,
    adapter: await describeAdapter(),
  });
  await prepare(modules, files.lockFile, memory);
}

/** Get ready what the first cells need, and what makes the next boot faster, while nobody waits. */
async function prepare(modules, lockFile, memory) {
  try {
    pyodide.pyimport("browsergpu").destroy();
  } catch {
    return; // The cell that imports it shows why it fails.
  }
  await modules.keep();
  if (memory && !memory.bytes) whenIdle(() => startMaker(lockFile));
}

/** Call this when a while has passed and Python has nothing to do. */
function whenIdle(call) {
  setTimeout(() => (interruption.running ? whenIdle(call) : call()), IDLE_MS);
}

/** Load packages of the lock file; resolves to what went wrong. */
async function loadPackages(names) {
  const problems = [];
  await pyodide.loadPackage(names, {
    messageCallback: (text) => post({ type: "loading", text }),
    errorCallback: (text) => problems.push(text),
  });
  const reasons = problems.filter((text) => !text.startsWith("The following error")).join("\n");
  // An exception of Python may come without a text.
  return reasons || problems.join("\n");
}

/** Load what the code imports while Python is idle; what fails, the import itself will tell. */
async function loadImports(code) {
  const names = call("imported_by", code);
  if (names === "[]") return;
  const problem = await loadPackages(JSON.parse(names));
  if (problem) call("not_loaded", names, problem);
}

async function run({ id, name, code }) {
  interruption.begin(id);
  beginRun();
  post({ type: "start", id });
  const endWatch = home.watch();
  try {
    await loadImports(code);
    if (!interruption.arm(() => call("cancel"))) {
      post({ type: "done", id, ...INTERRUPTED });
      return;
    }
    const ending = JSON.parse(await runner.run.callPromising(id, name, code));
    pictures.flush();
    await home.keep();
    post({ type: "done", id, ...ending });
  } finally {
    endWatch();
    interruption.end();
  }
  post({ type: "outline", value: JSON.parse(call("outline")) });
  watchGpu(id, () => call("gpu_unfinished"), post);
}

/**
 * Ask the interpreter, and jedi where only the code can tell; jedi is loaded when it is first
 * needed, since it is large. A run that began meanwhile is not held up: the answer is null then.
 */
async function look({ type, id, before, after }) {
  const ask = (byAnalysis) => JSON.parse(call(type, before, after, byAnalysis));
  let value = ask(false);
  if (value?.unresolved) {
    // The loader rejects where it meets the interrupt of such a run.
    const problem = await loadPackages(["jedi"]).catch(String);
    value = problem || interruption.running ? null : ask(true);
  }
  post({ type: "answer", id, value });
}

const handlers = {
  boot,
  run,
  input: ({ text }) => answers.take(text),
  file: async ({ id, name, bytes }) =>
    post({ type: "answer", id, value: await home.write(name, new Uint8Array(bytes)) }),
  read: ({ id, path }) => post({ type: "answer", id, value: home.read(path) }),
  delete: async ({ id, path }) => post({ type: "answer", id, value: await home.delete(path) }),
  interrupt: ({ id }) => {
    if (interruption.whileWaiting(id)) post({ type: "interrupted", id });
  },
  complete: look,
  describe: look,
  status: ({ id }) => post({ type: "answer", id, value: JSON.parse(call("status")) }),
};

self.onmessage = async ({ data }) => {
  try {
    await handlers[data.type](data);
  } catch (error) {
    // Python's exceptions are answers; what arrives here is the interpreter itself failing.
    post({ type: "failed", request: data.type, id: data.id ?? null, message: String(error) });
  }
};
