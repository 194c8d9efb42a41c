/** The script of exported pages. It loads the site's cells when the reader asks for it. */
import { addressOf } from "../../kernel/addresses.js";
import { fitHeight } from "../content/frame-height.js";

/**
 * Replace the code of the page by cells that run. It is written into the page as text, so it uses
 * nothing else of this module.
 * @param {HTMLButtonElement} button the reader's, which then runs all cells
 * @param {string} site
 */
function makeCells(button, site) {
  const script = document.createElement("script");
  script.src = `${site}browsergpu-cell.js`;
  script.onerror = () => {
    script.remove();
    button.disabled = false;
    button.after(` ${site} cannot be reached from this page. `);
  };
  script.onload = () => {
    const cells = [...document.querySelectorAll('.cell[data-type="code"]')].flatMap((box) => {
      const source = box.querySelector(".cell-source");
      if (!source) return [];
      const cell = /** @type {any} */ (document.createElement("browsergpu-cell"));
      // The outputs in the file stay until the cell makes its own.
      cell.addEventListener("run", () => {
        for (const old of box.querySelectorAll(".cell-outputs, details")) old.remove();
      });
      source.replaceWith(cell);
      cell.append(source);
      box.classList.add("live");
      return [cell];
    });
    button.textContent = "Run all";
    button.disabled = false;
    button.onclick = async () => {
      for (const cell of cells) if (!(await cell.run())) return;
    };
  };
  button.disabled = true;
  document.head.append(script);
}

/** Give the frame of an active output the height of its content, which the frame tells. */
function setHeight({ source, data }) {
  const frame = [...document.querySelectorAll("iframe")].find((one) => one.contentWindow === source);
  if (frame && Number.isFinite(data?.height)) fitHeight(frame, data.height);
}

/** Return the page's script as text. */
export function exportScript() {
  return `${makeCells}
${fitHeight}
${setHeight}
addEventListener("message", setHeight);
const button = document.querySelector(".export-cells");
button.onclick = () => makeCells(button, ${JSON.stringify(addressOf(""))});
// Browsers start no worker of another site for a file on the disk.
button.hidden = location.protocol === "file:";`;
}
