/**
 * Makes the memory snapshot that speeds up the next boot. The page starts the worker, since Firefox
 * sometimes stops a kernel that starts one itself.
 */
import { moduleWorker } from "./module-worker.js";

/**
 * Workers that have not finished. Firefox may collect, and end, one without references.
 * @type {Set<Worker>}
 */
const workers = new Set();

/** Start a worker that makes the snapshot and exits. */
export function makeSnapshot(lockFile) {
  const worker = moduleWorker("kernel/memory-maker.js");
  worker.onmessage = ({ data }) => {
    if (data === "ready") worker.postMessage({ lockFile });
    else workers.delete(worker);
  };
  workers.add(worker);
}
