/** Runs many cells, and tells how many ran and where a failure is. */
import { formatSeconds } from "../base/dom.js";
import { showMessage } from "../base/messages.js";

const cellsOf = (count) => `${count} ${count === 1 ? "cell" : "cells"}`;

/** Run cells of a notebook. After a failure, which cancels the rest, its cell has the focus. */
export async function runAndTell(notebook, cells) {
  const { sheet } = notebook;
  const wanted = cells.filter((cell) => cell.type === "code" && !cell.isEmpty && !cell.isWaiting);
  const begun = performance.now();
  const outcomes = new Map();
  await Promise.all(cells.map(async (cell) => outcomes.set(cell, await notebook.run(cell))));
  if (wanted.length === 0 || sheet !== notebook.sheet) return;
  const failed = wanted.find((cell) => cell.hasFailed);
  const ran = wanted.filter((cell) => outcomes.get(cell) || cell === failed).length;
  if (failed) {
    failed.focus();
    showMessage(`${ran} of ${cellsOf(wanted.length)} ran. The last one failed.`, {
      kind: "error", stays: false, ofNotebook: true,
    });
  } else if (ran === wanted.length) {
    showMessage(`${cellsOf(ran)} ran in ${formatSeconds((performance.now() - begun) / 1000)}.`, {
      ofNotebook: true,
    });
  }
}
