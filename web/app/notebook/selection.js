/** The selected cells, from an anchor to the current one. */
import { announce } from "../base/messages.js";

export class Selection {
  #notebook;
  /** @type {any} the first selected cell; null while only the current one is selected */
  #anchor = null;
  #head = null;

  constructor(notebook, root) {
    this.#notebook = notebook;
    // The notebook's listener runs first, so its current cell is the focused one.
    root.addEventListener("focusin", ({ target }) => {
      if (notebook.current !== this.#head || !target.matches(".cell")) this.clear();
    });
  }

  /** The selected cells from the top, or just the current one. */
  get cells() {
    const { cells, current } = this.#notebook;
    const ends = [this.#anchor ?? current, current].map((cell) => cells.indexOf(cell));
    if (ends.includes(-1)) return [current];
    return cells.slice(Math.min(...ends), Math.max(...ends) + 1);
  }

  /** Extend the selection to the cell before (-1) or after (+1). */
  extend(step) {
    const { cells, current } = this.#notebook;
    this.#reach(this.#anchor ?? current, cells[cells.indexOf(current) + step]);
  }

  all() {
    const { cells } = this.#notebook;
    this.#reach(cells[0], cells.at(-1));
  }

  #reach(anchor, head) {
    if (!head) return;
    this.#head = head;
    this.#anchor = anchor;
    head.focus();
    const { cells } = this;
    this.#mark(cells);
    announce(`${cells.length} ${cells.length === 1 ? "cell" : "cells"} selected`);
  }

  clear() {
    if (!this.#anchor) return;
    this.#anchor = this.#head = null;
    this.#mark([]);
  }

  #mark(selected) {
    for (const cell of this.#notebook.cells) {
      cell.root.classList.toggle("selected", selected.length > 1 && selected.includes(cell));
    }
  }
}
