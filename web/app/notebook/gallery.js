/** The gallery: a dialog with cards of the site's notebooks. */
import { element } from "../base/dom.js";
import { showMessage } from "../base/messages.js";

const FOLDER = "gallery/";

/**
 * Show the cards. `open(title, url)` receives the chosen one.
 * @param {{dialog: HTMLDialogElement, list: HTMLElement}} found
 * @param {(title: string, url: string) => unknown} open
 */
export async function showGallery({ dialog, list }, open) {
  /** @type {{file: string, title: string, about: string}[]} */
  let notebooks;
  try {
    const response = await fetch(`${FOLDER}index.json`);
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    notebooks = await response.json();
  } catch (error) {
    showMessage(`The gallery could not be opened: ${error.message}.`, { kind: "error" });
    return;
  }
  list.replaceChildren(...notebooks.map(({ file, title, about }) => {
    const name = file.replace(/\.ipynb$/, "");
    const button = element("button", { type: "button", className: "link" }, title);
    button.addEventListener("click", () => {
      dialog.close();
      open(name, FOLDER + file);
    });
    return element("li", { className: "gallery-card" },
      element("img", { src: `${FOLDER}pictures/${name}.jpg`, alt: "", loading: "lazy" }),
      button, element("p", {}, about));
  }));
  dialog.showModal();
}
