/** Which cells are selected: from where a selection began to the current one. */
import { announce } from "../base/messages.js";

export class Selection {
  #notebook;
  /** @type {any} the cell where it began; null while only the current one is selected */
  #anchor = null;
  #head = null;

  constructor(notebook, root) {
    this.#notebook = notebook;
    // The notebook listens before, so its current cell is the focused one already.
    root.addEventListener("focusin", ({ target }) => {
      if (notebook.current !== this.#head || !target.matches(".cell")) this.clear();
    });
  }

  /** The selected cells, from the top; the current one alone where there is no more. */
  get cells() {
    const { cells, current } = this.#notebook;
    const ends = [this.#anchor ?? current, current].map((cell) => cells.indexOf(cell));
    if (ends.includes(-1)) return [current];
    return cells.slice(Math.min(...ends), Math.max(...ends) + 1);
  }

  /** Go to the cell before (-1) or after (+1) and select all up to it. */
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
