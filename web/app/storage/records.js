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

const CUT = {
  output_type: "stream", name: "stderr",
  text: "[The notebook was stored while this cell ran. What it did afterwards is not here.]\n",
};

/** Return the model of a sheet. Outputs of running cells end with a mark. */
function marked(sheet) {
  const { model } = sheet;
  const cells = model.cells.map((cell, index) =>
    (sheet.cells[index].isRunning ? { ...cell, outputs: [...cell.outputs, CUT] } : cell));
  return { ...model, cells };
}

/** Return the record of a notebook with its content. */
export function stored({ record, title, sheet }) {
  const { isGiven: trusted } = sheet.trust;
  const made = [...sheet.cells.keys()].filter((index) => sheet.cells[index].isMadeHere);
  return { ...record, title, trusted, made, notebook: formatNotebook(marked(sheet)) };
}
