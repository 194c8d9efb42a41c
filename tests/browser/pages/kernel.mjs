// Pyodide for the bare page; the same in a page and in a worker.

import { loadPyodide } from "/pyodide/pyodide.mjs";

let pyodide;

export async function boot(packages) {
  const lock = await fetch("/lock/pyodide-lock.json"); // the site's, which has more wheels
  pyodide = await loadPyodide({
    indexURL: "/pyodide/", packageBaseUrl: absolute("/pyodide/"), lockFileContents: await lock.text(),
  });
  if (packages.length > 0) await pyodide.loadPackage(packages, { messageCallback: () => {} });
}

// Installs wheels as a user would. Without `deps` only the wheels themselves are installed.
export async function install(urls, deps) {
  const micropip = pyodide.pyimport("micropip");
  try {
    await micropip.install.callKwargs(pyodide.toPy(urls.map(absolute)), { deps });
  } finally {
    micropip.destroy();
  }
}

// micropip interprets a string without a scheme as a package's name.
function absolute(url) {
  return new URL(url, globalThis.location.href).href;
}

export function writeFiles(files) {
  for (const [path, text] of Object.entries(files)) {
    pyodide.FS.mkdirTree(path.slice(0, path.lastIndexOf("/")));
    pyodide.FS.writeFile(path, text);
  }
}

// Runs Python and returns the last expression as plain data (str, int, float, bool, None, list
// and dict of those).
export async function run(code) {
  const value = await pyodide.runPythonAsync(code);
  if (!(value instanceof pyodide.ffi.PyProxy)) return value ?? null;
  try {
    return value.toJs({ dict_converter: Object.fromEntries, create_pyproxies: false });
  } finally {
    value.destroy();
  }
}

// Runs Python by a synchronous call, in which Python cannot block on a promise.
export function runSync(code) {
  return pyodide.runPython(code) ?? null;
}
