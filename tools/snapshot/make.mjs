/**
 * Makes the files of the site's start/ folder: node make.mjs SITE FOLDER
 *
 * SITE is the address of a folder with the kernel's files. Snapshots made by Node.js work in
 * browsers that can suspend WebAssembly, since both run the same WebAssembly.
 */
import { spawnSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { setPriority } from "node:os";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const FLAG = "--experimental-wasm-jspi";
/** The exit status of a Node.js that does not know a flag. */
const UNKNOWN_FLAG = 9;

if (!("Suspending" in WebAssembly)) {
  // Newer releases may not know the flag.
  const command = [FLAG, ...process.argv.slice(1)];
  const { status } = process.execArgv.includes(FLAG) ? { status: UNKNOWN_FLAG }
    : spawnSync(process.execPath, command, { stdio: "inherit" });
  if (status === UNKNOWN_FLAG) console.error(`Node.js is ${process.version}. Install 24 or newer.`);
  process.exit(status ?? 1);
}

const [site, folder] = process.argv.slice(2);
setPriority(19); // the server is already in use

// Node.js does not fetch files.
globalThis.fetch = async (address) => new Response(await readFile(new URL(String(address))));

const load = (name) => import(`${site}kernel/${name}.js`);
const { PACKAGES, bootFiles } = await load("boot-files");
const { keyOf, siteName } = await load("kept");
const { BYTECODE, bytecodeSources, makeBytecode, readTexts } = await load("kernel-modules");
const { MEMORY, makeMemory, memorySources, startFromMemory } = await load("python-start");

async function write(kind, sources, bytes) {
  const name = siteName(kind, await keyOf(sources));
  await writeFile(`${folder}/${name}`, gzipSync(bytes, { level: 9 }));
}

const files = await bootFiles();
const texts = await readTexts();
const pyodide = fileURLToPath(`${site}pyodide/`);
const memory = await makeMemory(files.lockFile, texts, pyodide);
// Bytecode of the modules that are in the snapshot is never read.
const python = await startFromMemory(files.lockFile, memory, [...PACKAGES, files.wheel], pyodide);
const bytecode = makeBytecode(python, texts);
await write(MEMORY, memorySources(files.lockFile, texts), memory);
await write(BYTECODE, await bytecodeSources(files, texts), bytecode);
