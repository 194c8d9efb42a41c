/** The kernel: Pyodide in a module worker. The page sends one request at a time. */
import { loadPyodide } from "/pyodide/pyodide.mjs";
import { PACKAGES, bootFiles } from "./boot-files.js";
import { watchDownloads } from "./download-progress.js";
import { describeAdapter } from "./adapter.js";
import { Answers } from "./answers.js";
import { openBytecode } from "./bytecode.js";
import { Interruption } from "./interruption.js";
import { keepPackages } from "./package-cache.js";

const KERNEL_FOLDER = "/opt/notebook";
const KERNEL_MODULES = [
  "__init__", "bytecode", "without_terminal", "channel", "outputs", "tracebacks", "waiting",
  "asking", "packages", "display", "processes", "installing", "timing", "shell", "completion",
  "documentation", "analysis", "outline", "graphics_memory", "runner",
];
const HOME = "/home/pyodide";
const INTERRUPTED = {
  ok: false, name: "KeyboardInterrupt", message: "", seconds: 0,
  traceback: "KeyboardInterrupt\n", full: "KeyboardInterrupt\n",
};

let answers;
let interruption;
let pyodide;
let runner;

const post = (message, transfer = []) => self.postMessage(message, transfer);

/** Read the kernel's own Python modules; they go into Pyodide's file system. */
async function readKernelModules() {
  return Promise.all(KERNEL_MODULES.map(async (name) => {
    const url = new URL(`notebook_kernel/${name}.py`, import.meta.url);
    const response = await fetch(url);
    if (!response.ok) throw new Error(`${url.pathname}: HTTP ${response.status}`);
    return [name, await response.text()];
  }));
}

async function boot({ canvas, canvasId, interruptBuffer, answerBuffer }) {
  // browsergpu looks here for a canvas: a worker has no document to search.
  (globalThis.browsergpuCanvases ??= new Map()).set(canvasId, canvas);
  // And here for the translator of SPIR-V, which it loads when it meets some.
  globalThis.browsergpuNagaUrl = "/vendor/naga-wasm/dist/index.js";

  keepPackages();
  post({ type: "boot", stage: "Looking up the files" });
  const { lockFile, wheel, files } = await bootFiles();
  const downloads = watchDownloads(files, (progress) => post({ type: "boot", ...progress }));
  const modules = readKernelModules();
  const kept = readBytecode(lockFile, modules);
  try {
    pyodide = await loadPyodide({
      indexURL: "/pyodide/",
      lockFileContents: lockFile,
      packageBaseUrl: new URL("/pyodide/", location.href).href,
      env: { HOME, MPLBACKEND: "module://matplotlib_inline.backend_inline" },
      packages: PACKAGES,
      stdin: () => null,
    });
    post({ type: "boot", stage: "Installing browsergpu" });
    await pyodide.pyimport("micropip").install(new URL(wheel, location.href).href);
  } finally {
    downloads.stop();
  }

  post({ type: "boot", stage: "Starting the interpreter" });
  pyodide.FS.mkdirTree(`${KERNEL_FOLDER}/notebook_kernel`);
  for (const [name, text] of await modules) {
    pyodide.FS.writeFile(`${KERNEL_FOLDER}/notebook_kernel/${name}.py`, text);
  }
  pyodide.runPython(`import sys; sys.path.append("${KERNEL_FOLDER}")`);
  // After a fatal error, such as an overflown stack, pending promises never settle.
  pyodide._api.on_fatal = (error) =>
    post({ type: "failed", request: "run", id: null, message: String(error) });
  interruption = new Interruption(pyodide, interruptBuffer);
  answers = new Answers(answerBuffer);
  const keepBytecode = importShell(await kept);
  const module = pyodide.pyimport("notebook_kernel.runner");
  runner = module.start((text) => post(JSON.parse(text)), interruption, answers,
    loadPackages);
  module.destroy();
  post({
    type: "ready",
    python: pyodide.runPython("import platform; platform.python_version()"),
    pyodide: pyodide.version,
    adapter: await describeAdapter(),
  });
  await keepBytecode();
}

/** What the browser keeps of the shell's modules: a place for them, and what is there. */
async function readBytecode(lockFile, modules) {
  const place = await openBytecode(lockFile + JSON.stringify(await modules));
  return { place, archive: await place?.read() };
}

/** Import IPython; gives a function that keeps what was compiled, where nothing was kept. */
function importShell({ place, archive }) {
  const bytecode = pyodide.pyimport("notebook_kernel.bytecode");
  if (archive) bytecode.restore(archive);
  const finish = archive || !place ? null : bytecode.record();
  pyodide.pyimport("notebook_kernel.shell").destroy();
  return () => finish && place.write(finish().toJs());
}

/** Load packages of the lock file; resolves to what went wrong. */
async function loadPackages(names) {
  const problems = [];
  await pyodide.loadPackage(names, {
    messageCallback: (text) => post({ type: "loading", text }),
    errorCallback: (text) => problems.push(text),
  });
  return problems.filter((text) => !text.startsWith("The following error")).join("\n");
}

/** Load what the code imports while Python is idle; what fails, the import itself will tell. */
async function loadImports(code) {
  const names = runner.imported_by(code);
  if (names === "[]") return;
  const problem = await loadPackages(JSON.parse(names));
  if (problem) runner.not_loaded(names, problem);
}

async function run({ id, name, code }) {
  interruption.begin(id);
  post({ type: "start", id });
  try {
    await loadImports(code);
    if (!interruption.arm(() => runner.cancel())) {
      post({ type: "done", id, ...INTERRUPTED });
      return;
    }
    const ending = JSON.parse(await runner.run.callPromising(id, name, code));
    post({ type: "done", id, ...ending });
  } finally {
    interruption.end();
  }
  post({ type: "outline", value: JSON.parse(runner.outline()) });
}

/**
 * Ask the interpreter, and jedi where only the code can tell; jedi is loaded when it is first
 * needed, since it is large.
 */
async function look({ type, id, before, after }) {
  const ask = (byAnalysis) => JSON.parse(runner[type](before, after, byAnalysis));
  let value = ask(false);
  if (value?.unresolved) {
    const problem = await loadPackages(["jedi"]);
    value = problem ? null : ask(true);
  }
  post({ type: "answer", id, value });
}

/** Put a file that the person brought into the kernel's home folder. */
function writeFile({ id, name, bytes }) {
  const path = `${HOME}/${name}`;
  pyodide.FS.writeFile(path, new Uint8Array(bytes));
  post({ type: "file", id, path });
}

const handlers = {
  boot,
  run,
  file: writeFile,
  input: ({ text }) => answers.take(text),
  interrupt: ({ id }) => {
    if (interruption.whileWaiting(id)) post({ type: "interrupted", id });
  },
  complete: look,
  describe: look,
  status: ({ id }) => post({ type: "answer", id, value: JSON.parse(runner.status()) }),
};

self.onmessage = async ({ data }) => {
  try {
    await handlers[data.type](data);
  } catch (error) {
    // Python's exceptions are answers; what arrives here is the interpreter itself failing.
    post({ type: "failed", request: data.type, id: data.id ?? null, message: String(error) });
  }
};
