/** The kernel: Pyodide in a module worker. The page sends one request at a time. */
import { loadPyodide } from "/pyodide/pyodide.mjs";
import { PACKAGES, bootFiles } from "./boot-files.js";
import { watchDownloads } from "./download-progress.js";
import { describeAdapter } from "./adapter.js";
import { Answers } from "./answers.js";
import { openBytecode } from "./bytecode.js";
import { beginRun, watchGpu } from "./gpu-watch.js";
import { HomeFolder, readKept } from "./home-folder.js";
import { Interruption } from "./interruption.js";
import { keepPackages } from "./package-cache.js";
import { Pictures } from "./pictures.js";

const KERNEL_FOLDER = "/opt/notebook";
const KERNEL_MODULES = [
  "__init__", "bytecode", "without_terminal", "channel", "outputs", "tracebacks", "waiting",
  "asking", "packages", "display", "processes", "installing", "timing", "shell", "completion",
  "documentation", "analysis", "outline", "graphics_memory", "runner",
  "widget", "number_widgets", "choice_widgets", "box_widgets", "widget_links", "interact",
  "../ipywidgets", // by the name under which notebooks import it
];
const HOME = "/home/pyodide";
const INTERRUPTED = {
  ok: false, name: "KeyboardInterrupt", message: "", seconds: 0,
  traceback: "KeyboardInterrupt\n", full: "KeyboardInterrupt\n",
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

/** Read the kernel's own Python modules; they go into Pyodide's file system. */
async function readKernelModules() {
  return Promise.all(KERNEL_MODULES.map(async (name) => {
    const url = new URL(`notebook_kernel/${name}.py`, import.meta.url);
    const response = await fetch(url);
    if (!response.ok) throw new Error(`${url.pathname}: HTTP ${response.status}`);
    return [name, await response.text()];
  }));
}

async function boot({ interruptBuffer, answerBuffer }) {
  pictures = new Pictures(
    ({ run: id, canvas, picture }) => post({ type: "picture", id, canvas, picture }, [picture]),
    () => runner.active_run(),
  );
  // browsergpu looks here for a canvas: a worker has no document to search.
  globalThis.browsergpuCanvases = /** @type {any} */ (pictures);
  // And here for the translator of SPIR-V, which it loads when it meets some.
  globalThis.browsergpuNagaUrl = "/vendor/naga-wasm/dist/index.js";

  keepPackages();
  // And here for what takes a download: a worker has no document to click in.
  globalThis.browsergpuDownload = (name, bytes) => post({ type: "download", name, bytes });

  const kept = readKept();
  post({ type: "boot", stage: "Looking up the files" });
  const { lockFile, wheel, files } = await bootFiles();
  const downloads = watchDownloads(files, (progress) => post({ type: "boot", ...progress }));
  const modules = readKernelModules();
  const compiled = readBytecode(lockFile, modules);
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
  home = new HomeFolder(pyodide.FS, HOME, await kept, (files) => post({ type: "files", files }));
  interruption = new Interruption(pyodide, interruptBuffer);
  answers = new Answers(answerBuffer);
  const keepBytecode = importShell(await compiled);
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
  beginRun();
  post({ type: "start", id });
  const endWatch = home.watch();
  try {
    await loadImports(code);
    if (!interruption.arm(() => runner.cancel())) {
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
  post({ type: "outline", value: JSON.parse(runner.outline()) });
  watchGpu(id, () => runner.gpu_unfinished(), post);
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

const handlers = {
  boot,
  run,
  input: ({ text }) => answers.take(text),
  file: async ({ id, name, bytes }) =>
    post({ type: "file", id, path: await home.write(name, new Uint8Array(bytes)) }),
  read: ({ id, path }) => post({ type: "answer", id, value: home.read(path) }),
  delete: async ({ id, path }) => post({ type: "answer", id, value: await home.delete(path) }),
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
