// The rules of all of the repository's JavaScript: ESLint's recommended ones. ESLint itself is where
// tests/run.py installs it (tools/runner/javascript.py), and so are the packages used here.
import { createRequire } from "node:module";

const installed = createRequire(new URL("../../.cache/javascript/package.json", import.meta.url));
const { configs } = installed("@eslint/js");
const { browser, node, worker } = installed("globals");

const RECORDER = "py/browsergpu/engine/gpu/browser/recorder/*.js";
const IN_WORKERS = [
  "web/kernel/*.js", "tests/browser/pages/*-worker.mjs", "tools/publish/page/service-worker.js",
];

// All names that the recorder may use without an import. tools/join_recorder.py joins its modules
// into one function and reads one name in each declaration. Declarations of a module must therefore
// not be visible in another one without an import.
const GIVEN = [
  "device", "ring", "options",
  "Event", "GPUBufferUsage", "GPUMapMode", "GPUOutOfMemoryError", "GPUShaderStage",
  "clearTimeout", "globalThis", "navigator", "performance", "requestAnimationFrame", "setTimeout",
];

export default [
  { ignores: [".*/"] }, // of tools: nothing that belongs to the repository
  configs.recommended,
  {
    files: [RECORDER],
    languageOptions: { globals: Object.fromEntries(GIVEN.map((name) => [name, "readonly"])) },
    rules: { "no-shadow": ["error", { builtinGlobals: true }], "one-var": ["error", "never"] },
  },
  {
    files: [
      "web/app/**/*.js", "web/browsergpu-cell.js", "bench/page/*.mjs", "tests/browser/pages/*.mjs",
      "tools/publish/page/start.js",
    ],
    languageOptions: { globals: browser },
  },
  { files: IN_WORKERS, languageOptions: { globals: { ...worker, importScripts: "readonly" } } },
  {
    files: ["tests/javascript/*.mjs", "tests/browser/harness/*.cjs", "tools/snapshot/*.mjs"],
    languageOptions: { globals: node },
  },
];
