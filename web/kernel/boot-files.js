/** Files that the kernel needs to start, and their sizes. */

import { addressOf } from "./addresses.js";

const CORE = ["pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip"];
/** Packages of the kernel's modules, without compiled code. */
export const PURE_PACKAGES = ["micropip", "ipython"];
/** Packages loaded before any cell runs. */
export const PACKAGES = ["numpy", ...PURE_PACKAGES];

/** Names in the lock file's form; `depends` may spell them differently. */
const plainName = (name) => name.toLowerCase().replace(/[-_.]+/g, "-");

async function read(url, parse) {
  const response = await fetch(addressOf(url));
  if (!response.ok) {
    throw new Error(`${url} could not be loaded: HTTP ${response.status}. Is serve.py running?`);
  }
  return response[parse]();
}

/** Return the packages and all their dependencies, by the lock file's names. */
export function withDependencies(lock, names) {
  const found = new Set();
  const visit = (name) => {
    name = plainName(name);
    if (found.has(name)) return;
    const entry = lock.packages[name];
    if (!entry) throw new Error(`The lock file has no package named ${name}`);
    found.add(name);
    entry.depends.forEach(visit);
  };
  names.forEach(visit);
  return [...found];
}

async function sizeOf(path) {
  const response = await fetch(new URL(path, addressOf("")), { method: "HEAD" });
  // An unread response counts as aborted.
  await response.arrayBuffer();
  return response.ok ? Number(response.headers.get("Content-Length")) || 0 : 0;
}

/** Return the lock file's text, the wheel's address, and the names of the files in start/. */
export async function bootFiles() {
  const [lockFile, index, onSite] = await Promise.all([
    read("lock/pyodide-lock.json", "text"),
    read("wheel/index.json", "json"),
    read("start/index.json", "json"),
  ]);
  return { lockFile, wheel: new URL(index.wheel, addressOf("wheel/index.json")).href, onSite };
}

/** Return the bytes of every file to load, by path. `starting` names those in start/. */
export async function bootSizes({ lockFile, wheel }, starting) {
  const lock = JSON.parse(lockFile);
  const paths = [
    ...CORE,
    ...withDependencies(lock, PACKAGES).map((name) => lock.packages[name].file_name),
  ].map((name) => new URL(addressOf(`pyodide/${name}`)).pathname);
  paths.push(new URL(wheel).pathname);
  paths.push(...starting.map((name) => new URL(addressOf(`start/${name}`)).pathname));
  const sizes = await Promise.all(paths.map(sizeOf));
  return new Map(paths.map((path, i) => [path, sizes[i]]));
}
