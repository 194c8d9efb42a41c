/**
 * Starts a published page. Its service worker sends the headers that isolate the page, and caches
 * its files for use without a network. On the first visit, the page reloads once to get the headers.
 */

const TRIED = "browsergpu-isolation";
/** Delay before the unused files are fetched, so that the user can begin first. */
const FILL_MS = 5000;

const workers = navigator.serviceWorker; // undefined at an insecure address

/** Whether the page can start. Otherwise it must be loaded again, through the service worker. */
async function isReady() {
  if (crossOriginIsolated) return true;
  // The page says what is missing if the worker did not help.
  if (sessionStorage.getItem(TRIED)) return true;
  await register();
  await workers.ready;
  sessionStorage.setItem(TRIED, "yes");
  return false;
}

const register = () => workers.register("service-worker.js", { updateViaCache: "none" });

async function keepFiles() {
  try {
    await register();
    await globalThis.browsergpu.ready;
    const { active } = await workers.ready;
    setTimeout(() => active?.postMessage("fill"), FILL_MS);
  } catch (error) {
    console.info(`The page is not kept for use without a network: ${error}`);
  }
}

export {}; // a module, which may await

if (workers && !(await isReady().catch(() => true))) location.reload();
else {
  if (globalThis.crossOriginIsolated) sessionStorage.removeItem(TRIED);
  await import(new URL("app/main.js", import.meta.url).href);
  if (workers) void keepFiles();
}
