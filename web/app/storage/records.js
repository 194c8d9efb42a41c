/** Records of the open notebook, in the form of storage.js. */
import { formatNotebook } from "../cells/ipynb.js";

/**
 * A notebook's record without the parts that the page shows.
 * @typedef {Omit<import("./storage.js").NotebookRecord, "notebook" | "title">} About
 */

/** Return a record without stored content. */
export function newRecord(title, more = {}) {
  return { id: crypto.randomUUID(), saved: Date.now(), title, ...more };
}

/** Return the record of a notebook with its content. */
export function stored({ record, title, sheet }) {
  const { isGiven: trusted } = sheet.trust;
  return { ...record, title, trusted, notebook: formatNotebook(sheet.model) };
}
