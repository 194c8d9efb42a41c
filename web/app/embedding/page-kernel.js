/** The kernel that all cells of a page share. It starts when the first cell runs. */
import { download } from "../base/downloads.js";
import { widgets } from "../controls/widgets.js";
import { KernelClient } from "../kernel/kernel-client.js";
import { detectProblems } from "../kernel/problems.js";

export const kernel = new KernelClient();
widgets.connect(kernel);
kernel.addEventListener("download", (event) => {
  const { name, bytes } = /** @type {CustomEvent} */ (event).detail;
  download(name, bytes);
});

/** @type {Promise<string[]> | null} */
let missing = null;

/** Return what the browser lacks to compute on a GPU, as keys of PROBLEMS. */
export function missingParts() {
  // Without isolation cells run, and only an interrupt of a busy loop needs a restart.
  missing ??= detectProblems().then((keys) => keys.filter((key) => key !== "isolation"));
  return missing;
}

/** Start the kernel if it does not run. */
export function startKernel() {
  if (kernel.state === "dead") kernel.start();
}
