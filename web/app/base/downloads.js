/** Downloads of files that the page creates. */
import { element } from "./dom.js";

/** @param {string} name @param {BlobPart} content */
export function download(name, content, type = "application/octet-stream") {
  const url = URL.createObjectURL(new Blob([content], { type }));
  element("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** Download a notebook's text under its title. */
export function downloadNotebook(title, text) {
  download(`${title.trim() || "untitled"}.ipynb`, text, "application/x-ipynb+json");
}
