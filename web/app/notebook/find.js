/** Find and replace in all cells of the notebook. */
import { SearchQuery } from "@codemirror/search";
import { EditorView } from "@codemirror/view";
import { showMessage } from "../base/messages.js";

const MOST = 100_000;

/** @typedef {{cell: any, from: number, to: number, index: number, match: any}} Match */

const counted = (count, one, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;

export class Finder {
  #notebook;
  #parts;
  /** @type {Match | null} the match that is selected */
  #current = null;
  /** @type {any} a text cell whose source is shown for a match */
  #opened = null;

  /** `found` has the bar and its fields in index.html, by their `data-ref`. */
  constructor(notebook, found) {
    this.#notebook = notebook;
    this.#parts = {
      bar: found["find-bar"], text: found["find-text"], replacement: found["find-replacement"],
      matchCase: found["find-case"], regexp: found["find-regexp"], count: found["find-count"],
    };
    const { bar } = this.#parts;
    const actions = {
      next: () => this.#go(+1), previous: () => this.#go(-1), replace: () => this.#replace(),
      "replace-all": () => this.#replaceAll(), close: () => this.close(),
    };
    bar.addEventListener("click", ({ target }) => actions[target.closest("[data-find]")?.dataset.find]?.());
    bar.addEventListener("input", () => {
      this.#current = null;
      this.#tell();
    });
    bar.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.close();
      else if (event.key === "Enter" && event.target.matches("input:not([type=checkbox])")) {
        this.#go(event.shiftKey ? -1 : +1);
      } else return;
      event.preventDefault();
    });
    notebook.addEventListener("shown", () => this.close());
  }

  open() {
    this.#parts.bar.hidden = false;
    this.#parts.text.select();
    this.#tell();
  }

  close() {
    const { bar } = this.#parts;
    if (bar.hidden) return;
    bar.hidden = true;
    if (this.#current) this.#current.cell.edit();
    else this.#notebook.current.focus();
    this.#current = this.#opened = null;
  }

  get #query() {
    const { text, replacement, matchCase, regexp } = this.#parts;
    return new SearchQuery({
      search: text.value, replace: replacement.value, caseSensitive: matchCase.checked,
      regexp: regexp.checked, literal: !regexp.checked,
    });
  }

  /** @returns {Match[]} */
  #matches() {
    const query = this.#query;
    if (!query.valid) return [];
    return this.#notebook.cells.flatMap((cell) =>
      (query.create().matchAll(cell.view.state, MOST) ?? [])
        .map((match) => ({ cell, from: match.from, to: match.to, match })))
      .map((match, index) => ({ ...match, index }));
  }

  #tell(matches = this.#matches()) {
    const { count, text } = this.#parts;
    if (text.value && !this.#query.valid) count.textContent = "Not a regular expression";
    else if (!text.value) count.textContent = "";
    else if (this.#current) count.textContent = `${this.#current.index + 1} of ${matches.length}`;
    else count.textContent = counted(matches.length, "match", "matches");
  }

  /** Select the match after (+1) or before (-1) the selected one, or the first at the current cell. */
  #go(step) {
    const matches = this.#matches();
    const { cells, current } = this.#notebook;
    const at = this.#current ?? { cell: current, from: step > 0 ? -1 : Infinity };
    const distance = ({ cell, from }) => cells.indexOf(cell) - cells.indexOf(at.cell) || from - at.from;
    const next = step > 0 ? matches.find((one) => distance(one) > 0) ?? matches[0]
      : matches.findLast((one) => distance(one) < 0) ?? matches.at(-1);
    this.#select(next ?? null);
    this.#tell(matches);
  }

  /** @param {Match | null} match */
  #select(match) {
    this.#current = match;
    if (this.#opened && this.#opened !== match?.cell) {
      this.#opened.render();
      this.#opened = null;
    }
    if (!match) return;
    const { cell, from, to } = match;
    cell.reveal();
    if (cell.isRendered) {
      cell.showSource();
      this.#opened = cell;
    }
    cell.view.dispatch({
      selection: { anchor: from, head: to },
      effects: EditorView.scrollIntoView(from, { y: "center" }),
    });
  }

  /** Replace the selected match and select the next one. */
  #replace() {
    const match = this.#current && this.#matches().find(({ cell, from, to }) =>
      cell === this.#current?.cell && from === this.#current?.from && to === this.#current?.to);
    if (match) {
      const insert = this.#query.create().getReplacement(match.match);
      match.cell.view.dispatch({ changes: { from: match.from, to: match.to, insert } });
      this.#current = { ...match, from: match.from + insert.length - 1 };
    }
    this.#go(+1);
  }

  #replaceAll() {
    const matches = this.#matches();
    const query = this.#query.create();
    const changed = this.#notebook.cells.flatMap((cell) => {
      const mine = matches.filter((one) => one.cell === cell);
      if (mine.length === 0) return [];
      const before = cell.source;
      const changes = mine.map(({ from, to, match }) => (
        { from, to, insert: query.getReplacement(match) }));
      setText(cell, changes);
      return [{ cell, before, after: cell.source }];
    });
    this.#current = null;
    this.#tell();
    const undo = () => {
      for (const { cell, before, after } of changed) {
        if (cell.source === after) setText(cell, { from: 0, to: after.length, insert: before });
      }
    };
    showMessage(`${counted(matches.length, "replacement")} in ${counted(changed.length, "cell")}.`,
      { ofNotebook: true, ...(changed.length > 0 && { action: { label: "Undo", run: undo } }) });
  }
}

function setText(cell, changes) {
  cell.view.dispatch({ changes });
  if (cell.isRendered) cell.render();
}
