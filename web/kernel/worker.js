/** The kernel: Pyodide in a module worker. The page sends one request at a time. */
import { loadPyodide } from "/pyodide/pyodide.mjs";
import { bootFiles } from "./boot-files.js";
import { watchDownloads } from "./download-progress.js";
import { describeAdapter } from "./adapter.js";
import { beginRun, watchGpu } from "./gpu-watch.js";
import { HomeFolder, readKept } from "./home-folder.js";
import { Interruption } from "./interruption.js";
import { Pictures } from "./pictures.js";

const KERNEL_FOLDER = "/opt/notebook";
const KERNEL_MODULES = [
  "__init__", "channel", "outputs", "display", "tracebacks", "waiting", "completion",
  "graphics_memory", "runner", "matplotlib_backend", "widgets", "interact",
  "../ipywidgets", // by the name under which notebooks import it
];
const HOME = "/home/pyodide";
const INTERRUPTED = {
  ok: false, name: "KeyboardInterrupt", message: "", seconds: 0,
  traceback: "KeyboardInterrupt\n", full: "KeyboardInterrupt\n",
};

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

async function boot({ interruptBuffer }) {
  pictures = new Pictures(
    ({ run: id, canvas, picture }) => post({ type: "picture", id, canvas, picture }, [picture]),
    () => runner.active_run(),
  );
  // browsergpu looks here for a canvas: a worker has no document to search.
  globalThis.browsergpuCanvases = /** @type {any} */ (pictures);
  // And here for the translator of SPIR-V, which it loads when it meets some.
  globalThis.browsergpuNagaUrl = "/vendor/naga-wasm/dist/index.js";

  // And here for what takes a download: a worker has no document to click in.
  globalThis.browsergpuDownload = (name, bytes) => post({ type: "download", name, bytes });

  const kept = readKept();
  post({ type: "boot", stage: "Looking up the files" });
  const { lockFile, wheel, files } = await bootFiles();
  const downloads = watchDownloads(files, (progress) => post({ type: "boot", ...progress }));
  const modules = readKernelModules();
  try {
    pyodide = await loadPyodide({
      indexURL: "/pyodide/",
      lockFileContents: lockFile,
      packageBaseUrl: new URL("/pyodide/", location.href).href,
      env: { HOME, MPLBACKEND: "module://notebook_kernel.matplotlib_backend" },
      packages: ["numpy", "micropip"],
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
  const module = pyodide.pyimport("notebook_kernel.runner");
  runner = module.start((text) => post(JSON.parse(text)), interruption);
  module.destroy();
  home.tell();
  post({
    type: "ready",
    python: pyodide.runPython("import platform; platform.python_version()"),
    pyodide: pyodide.version,
    adapter: await describeAdapter(),
  });
}

/** Load the packages that the code imports and that Pyodide's lock file knows. */
async function loadImports(id, code) {
  const problems = [];
  await pyodide.loadPackagesFromImports(code, {
    messageCallback: (text) => post({ type: "loading", id, text }),
    errorCallback: (text) => problems.push(text),
  });
  for (const text of problems) post({ type: "stream", id, name: "stderr", text: `${text}\n` });
}

async function run({ id, name, code }) {
  interruption.begin(id);
  beginRun();
  post({ type: "start", id });
  const endWatch = home.watch();
  try {
    await loadImports(id, code);
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
  watchGpu(id, () => runner.gpu_unfinished(), post);
}

const handlers = {
  boot,
  run,
  file: async ({ id, name, bytes }) =>
    post({ type: "file", id, path: await home.write(name, new Uint8Array(bytes)) }),
  read: ({ id, path }) => post({ type: "answer", id, value: home.read(path) }),
  delete: async ({ id, path }) => post({ type: "answer", id, value: await home.delete(path) }),
  interrupt: ({ id }) => {
    if (interruption.whileWaiting(id)) post({ type: "interrupted", id });
  },
  complete: ({ id, before }) =>
    post({ type: "answer", id, value: JSON.parse(runner.complete(before)) }),
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
