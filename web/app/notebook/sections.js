/** Sections: the cells under a heading, which can be hidden. */
import { headingsOf } from "../content/markdown.js";

const DELAY_MS = 150;

/** @type {WeakMap<object, {source: string, level: number}>} by cell */
const levels = new WeakMap();

/** Return the level of the heading that a cell begins with, Infinity if there is none. */
function levelOf(cell) {
  const { type, source } = cell;
  if (type !== "markdown" || !/^\s*#/.test(source)) return Infinity;
  const known = levels.get(cell);
  if (known && known.source === source) return known.level;
  const level = headingsOf(source)[0]?.depth ?? Infinity;
  levels.set(cell, { source, level });
  return level;
}

/** Return the cells under the heading that `cell` begins with. */
export function sectionOf(notebook, cell) {
  const level = levelOf(cell);
  if (level === Infinity) return [];
  const { cells } = notebook;
  const below = cells.slice(cells.indexOf(cell) + 1);
  const end = below.findIndex((one) => levelOf(one) <= level);
  return end < 0 ? below : below.slice(0, end);
}

/** Hide the cells under folded headings of `notebook`, but never the current one. */
export class Sections {
  #notebook;
  /** @type {number | undefined} */
  #timer;

  constructor(notebook) {
    this.#notebook = notebook;
    notebook.addEventListener("shown", () => this.#show());
    notebook.addEventListener("change", () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#show(), DELAY_MS);
    });
    notebook.addEventListener("reveal", ({ detail: cell }) => this.#reveal(cell));
    notebook.addEventListener("section", ({ detail: cell }) => this.toggle(cell));
  }

  /** Hide or show the cells under the heading in `cell`. */
  toggle(cell) {
    cell.focus(); // no hidden cell is the current one
    cell.foldSection(!cell.isSectionFolded);
    this.#show();
  }

  /** Unfold all headings that hide `cell`. */
  #reveal(cell) {
    if (!cell.root.hidden) return;
    for (const one of this.#notebook.cells) {
      if (one.isSectionFolded && sectionOf(this.#notebook, one).includes(cell)) one.foldSection(false);
    }
    this.#show();
  }

  #show() {
    const { cells, current } = this.#notebook;
    const hidden = new Set();
    for (const cell of cells) {
      const section = sectionOf(this.#notebook, cell);
      // For instance a cell that was pasted there.
      if (cell.isSectionFolded && section.includes(current)) cell.foldSection(false);
      if (cell.isSectionFolded) section.forEach((one) => hidden.add(one));
      cell.showSection(section.length);
    }
    for (const cell of cells) cell.root.hidden = hidden.has(cell);
  }
}
