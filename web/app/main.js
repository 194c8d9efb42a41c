/** Selects the page to show: missing requirements, the kernel alone, or the notebook. */
import "./base/settings.js"; // applies the theme
import { prepareKernel } from "./kernel/kernel-client.js";
import { detectProblems } from "./kernel/problems.js";
import { showProblems } from "./kernel/problems-page.js";
import { refusingApi } from "./kernel/machine.js";

const app = document.getElementById("app");
const parameters = new URLSearchParams(location.search);
const alone = parameters.get("notebook") === "none";

// A program may ask for `browsergpu.ready` before the checks are complete.
let tellOpened;
const opened = new Promise((resolve) => {
  tellOpened = resolve;
});
globalThis.browsergpu = {
  ready: opened.then(() => globalThis.browsergpu.ready),
  run: (code) => opened.then(() => globalThis.browsergpu.run(code)),
};
globalThis.browsergpu.ready.catch(() => {});

if (isSecureContext) prepareKernel();

// It loads while the browser is asked for a GPU.
const page = alone ? import("./machine-page.js") : import("./notebook-page.js");
page.catch(() => {}); // awaited below

async function open() {
  const problems = await detectProblems();
  if (problems.length > 0) {
    const anyway = showProblems(app, problems);
    globalThis.browsergpu = refusingApi(problems);
    tellOpened();
    await anyway;
  }
  (await page).openPage(app);
  tellOpened();
}

await open();
