/** The kernel: Pyodide in a module worker. The page sends one request at a time. */
import { addressOf } from "./addresses.js";
import { PACKAGES, bootFiles, bootSizes } from "./boot-files.js";
import { watchDownloads } from "./download-progress.js";
import { describeAdapter } from "./adapter.js";
import { Answers } from "./answers.js";
import { beginRun, watchGpu } from "./gpu-watch.js";
import { HomeFolder, readKept } from "./home-folder.js";
import { Interruption } from "./interruption.js";
import { readModules, readTexts } from "./kernel-modules.js";
import { keepPackages } from "./package-cache.js";
import { Pictures } from "./pictures.js";
import { HOME, openMemory, startPython } from "./python-start.js";

/** Delay, so that a user who has just opened the page can begin first. */
const IDLE_MS = 5000;
const INTERRUPTED = {
  ok: false, name: "KeyboardInterrupt", message: "", seconds: 0,
  traceback: "KeyboardInterrupt\n", full: "KeyboardInterrupt\n", shortened: false,
};

/** Begins while the page still asks the browser for a GPU. */
const beginning = begin();
beginning.catch(() => {}); // failures are reported where it is awaited

let answers;
/** @type {HomeFolder} */
let home;
/** @type {Pictures} */
let pictures;
let interruption;
let pyodide;
let runner;

const post = (message, transfer = []) => self.postMessage(message, transfer);

/** Post a message of Python, with arrays of bytes that it may have. */
function postText(text, buffers) {
  if (buffers) post({ ...JSON.parse(text), buffers }, buffers.map(({ buffer }) => buffer));
  else post(JSON.parse(text));
}

/** Call a method of runner.py's Runner other than `run`. Interrupts do not affect it. */
const call = (method, ...values) => interruption.aside(() => runner[method](...values));

/** Return the run and the Output widget of the running code. */
function outputPlace() {
  const [run, widget] = call("output_place").split(" ");
  return { run: run ? Number(run) : null, widget: widget || null };
}

/** Look up the files, and start Python if the browser has stored its memory. */
async function begin() {
  const [files, texts] = await Promise.all([bootFiles(), readTexts()]);
  const memory = await openMemory(files, texts);
  const start = () => {
    const reading = readModules(files, texts);
    const starting = startPython(files.lockFile, memory, [...PACKAGES, files.wheel]);
    for (const one of [reading, starting]) one.catch(() => {}); // as above
    return { reading, starting };
  };
  return { files, memory, start, started: await memory.isStored() ? start() : null };
}

async function boot({ interruptBuffer, answerBuffer, mailBuffer }) {
  pictures = new Pictures(
    ({ run: id, picture, ...more }) => post({ type: "picture", id, picture, ...more }, [picture]),
    outputPlace,
    mailBuffer,
  );
  // browsergpu looks for a canvas here, since a worker has no document.
  globalThis.browsergpuCanvases = /** @type {any} */ (pictures);
  // The translator of SPIR-V, which browsergpu loads on demand.
  globalThis.browsergpuNagaUrl = addressOf("vendor/naga-wasm/dist/index.js");

  keepPackages();
  // The handler of downloads, since a worker has no document.
  globalThis.browsergpuDownload = (name, bytes) => post({ type: "download", name, bytes });

  const homeFiles = readKept();
  post({ type: "boot", stage: "Looking up the files" });
  const { files, memory, start, started } = await beginning;
  // Files from the browser's cache need no progress, and load faster without it.
  const downloads = started ? null
    : watchDownloads(await bootSizes(files, memory.isOnSite ? files.onSite : []),
      (progress) => post({ type: "boot", ...progress }));
  const { reading, starting } = started ?? start();
  post({ type: "boot", stage: "Starting Python" });
  try {
    pyodide = await starting;
  } finally {
    downloads?.stop();
  }

  // After a fatal error, such as a stack overflow, pending promises never settle.
  pyodide._api.on_fatal = (error) =>
    post({ type: "failed", request: "run", id: null, message: String(error) });
  home = new HomeFolder(pyodide.FS, HOME, await homeFiles, (files) => post({ type: "files", files }));
  interruption = new Interruption(pyodide, interruptBuffer);
  answers = new Answers(answerBuffer);
  const modules = await reading;
  modules.install(pyodide);
  const module = pyodide.pyimport("notebook_kernel.runner");
  runner = module.start(postText, interruption, answers, loadPackages);
  module.destroy();
  home.tell();
  post({
    type: "ready",
    python: pyodide.runPython("import platform; platform.python_version()"),
    pyodide: pyodide.version,
    adapter: await describeAdapter(),
  });
  await prepare(modules);
  if (memory.canStore && !await memory.isStored()) whenIdle(() => storeMemory(files.lockFile, memory));
}

/** Prepare what the first cells need, and the bytecode for the next boot, while Python is idle. */
async function prepare(modules) {
  try {
    pyodide.pyimport("browsergpu").destroy();
  } catch {
    return; // The cell that imports it shows why it fails.
  }
  await modules.keep();
}

/** Store the memory for the next boot: the site's, or else a new one. */
async function storeMemory(lockFile, memory) {
  if (!await memory.storeSites()) post({ type: "snapshot", lockFile });
}

/** Call a function after a delay, when Python is idle. */
function whenIdle(call) {
  setTimeout(() => (interruption.running ? whenIdle(call) : call()), IDLE_MS);
}

/** Load packages of the lock file. Resolves to an error text. */
async function loadPackages(names) {
  const problems = [];
  await pyodide.loadPackage(names, {
    messageCallback: (text) => post({ type: "loading", text }),
    errorCallback: (text) => problems.push(text),
  });
  const reasons = problems.filter((text) => !text.startsWith("The following error")).join("\n");
  // A Python exception may have no text.
  return reasons || problems.join("\n");
}

/**
 * Load the packages that the code imports, while Python is idle. The import itself reports
 * failures.
 */
async function loadImports(code) {
  const names = call("imported_by", code);
  if (names === "[]") return;
  const problem = await loadPackages(JSON.parse(names));
  if (problem) call("not_loaded", names, problem);
}

function run({ id, name, code, screen }) {
  return perform(id, () => loadImports(code), () => runner.run.callPromising(
    id, name, code, screen.density, screen.isDark));
}

/** Pass a message of the page to a widget, as a run of its own. */
function receive({ id, comm, buffers }) {
  return perform(id, () => {}, () => runner.receive.callPromising(id, JSON.stringify(comm), buffers));
}

/** Do work of Python that may be interrupted. `prepare()` comes first and may not. */
async function perform(id, prepare, work) {
  interruption.begin(id);
  beginRun();
  post({ type: "start", id });
  const endWatch = home.watch();
  try {
    await prepare();
    if (!interruption.arm(() => call("cancel"))) {
      post({ type: "done", id, ...INTERRUPTED });
      return;
    }
    const ending = JSON.parse(await work());
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
 * Ask the interpreter, and jedi if only the code can tell. jedi is large, so it is loaded on first
 * use. If a run began meanwhile, it is not delayed, and the answer is null.
 */
async function look({ type, id, before, after }) {
  const ask = (byAnalysis) => JSON.parse(call(type, before, after, byAnalysis));
  let value = ask(false);
  if (value?.unresolved) {
    // The loader rejects if such a run is interrupted.
    const problem = await loadPackages(["jedi"]).catch(String);
    value = problem || interruption.running ? null : ask(true);
  }
  post({ type: "answer", id, value });
}

const handlers = {
  boot,
  run,
  comm: receive,
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
  variables: ({ id }) => post({ type: "answer", id, value: JSON.parse(call("variables")) }),
  arrays: ({ id }) => post({ type: "answer", id, value: JSON.parse(call("arrays")) }),
  valueAt: async ({ id, canvas, owner, x, y }) =>
    post({ type: "answer", id, value: await call("value_at", canvas, owner, x, y) }),
  forget: ({ canvas, owner }) => call("forget_drawing", canvas, owner),
  status: ({ id }) => post({ type: "answer", id, value: JSON.parse(call("status")) }),
};

self.onmessage = async ({ data }) => {
  try {
    await handlers[data.type](data);
  } catch (error) {
    // Python's exceptions are answers. This is a failure of the interpreter itself.
    post({ type: "failed", request: data.type, id: data.id ?? null, message: String(error) });
  }
};
