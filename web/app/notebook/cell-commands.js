/** Commands for cells with Jupyter's keys: cut, copy, paste, merge, split, fold and so on. */
import { newCellId } from "../cells/ipynb.js";
import { announce, showMessage } from "../base/messages.js";
import { runAndTell } from "./run-all.js";
import { sectionOf } from "./sections.js";
import { openSearch, setLineNumbers } from "../editor/editor-habits.js";

const HEADING = /^#{1,6}\s+/;

const many = (cells) => (cells.length === 1 ? "Cell" : `${cells.length} cells`);

/** Replace a cell's initial text. Returns false if it does not begin with the old one. */
function replaceStart(cell, old, insert) {
  if (!cell.source.startsWith(old)) return false;
  cell.view.dispatch({ changes: { from: 0, to: old.length, insert } });
  if (cell.isRendered) cell.render();
}

export class CellCommands {
  #notebook;
  #selection;
  /** Models of copied or cut cells; they stay when another notebook is opened. */
  #clipboard = [];

  constructor(notebook, selection) {
    this.#notebook = notebook;
    this.#selection = selection;
  }

  run() {
    this.#notebook.runAll(this.#selection.cells);
  }

  runAndMove() {
    this.#notebook.runAndMove(this.#selection.cells);
  }

  runAndInsert() {
    this.#notebook.runAndInsert(this.#selection.cells);
  }

  /** Run all cells above the selection. */
  runAbove() {
    const { cells } = this.#notebook;
    void runAndTell(this.#notebook, cells.slice(0, cells.indexOf(this.#selection.cells[0])));
  }

  /** Run the selection and all cells below. */
  runBelow() {
    const { cells } = this.#notebook;
    void runAndTell(this.#notebook, cells.slice(cells.indexOf(this.#selection.cells[0])));
  }

  copy() {
    const { cells } = this.#selection;
    this.#clipboard = structuredClone(cells.map((cell) => cell.model));
    announce(`${many(cells)} copied`);
  }

  cut() {
    this.copy();
    this.delete();
  }

  delete() {
    const { cells } = this.#selection;
    this.#selection.clear();
    this.#notebook.deleteAll(cells);
  }

  /** Paste after (+1) or before (-1) the current cell. */
  paste(step) {
    const models = this.#clipboard.map((model) => ({ ...structuredClone(model), id: newCellId() }));
    if (models.length === 0) return;
    const { cells, current } = this.#notebook;
    const made = this.#notebook.replace(cells.indexOf(current) + (step > 0 ? 1 : 0), [], models);
    made.at(-1).focus();
    announce(`${many(made)} pasted`);
  }

  /** Merge the selected cells, or the current one with the next. */
  merge() {
    const { cells, current } = this.#notebook;
    let parts = this.#selection.cells;
    if (parts.length === 1) parts = cells.slice(cells.indexOf(current), cells.indexOf(current) + 2);
    if (parts.length < 2) return;
    this.#selection.clear();
    const [first] = parts;
    const model = {
      ...first.model, id: newCellId(), executionCount: null, outputs: [],
      source: parts.map((cell) => cell.source).join("\n\n"),
    };
    const attachments = Object.assign({}, ...parts.map((cell) => cell.model.attachments));
    if (Object.keys(attachments).length > 0) model.attachments = attachments;
    this.#notebook.replace(cells.indexOf(first), parts, [model])[0].focus();
    announce(`${many(parts)} merged`);
  }

  /** Split a cell at the cursor, or around the selected text. */
  split(cell) {
    const { source, model } = cell;
    const { ranges } = cell.view.state.selection;
    const places = ranges.flatMap(({ from, to }) => [from, to]);
    const cuts = [...new Set(places)].filter((place) => place > 0 && place < source.length);
    if (cuts.length === 0) return;
    const edges = [0, ...cuts, source.length];
    // A line split at its end must not leave an empty line.
    const sources = cuts.concat(source.length)
      .map((end, index) => source.slice(edges[index], end).replace(/^\n+|\s+$/g, ""));
    // The outputs belong to the last part.
    const parts = sources.map((text, index) => ({
      ...structuredClone(model), source: text, id: newCellId(),
      ...(index < cuts.length ? { executionCount: null, outputs: [] } : {}),
    }));
    const { cells } = this.#notebook;
    this.#notebook.replace(cells.indexOf(cell), [cell], parts).at(-1).edit("start");
    announce(`Split into ${parts.length}`);
  }

  /** Move the selected cells one place up (-1) or down (+1). */
  move(step) {
    const { cells } = this.#selection;
    const all = this.#notebook.cells;
    const leading = step < 0 ? cells[0] : cells.at(-1);
    if (!all[all.indexOf(leading) + step]) return;
    for (const cell of step < 0 ? cells : cells.reverse()) this.#notebook.move(cell, step);
  }

  convert(type) {
    this.#notebook.history.together(() => {
      for (const cell of this.#selection.cells) this.#notebook.convert(cell, type);
    });
  }

  /** Turn the current cell into a text cell with a heading of this level. */
  heading(level) {
    const { current, history } = this.#notebook;
    const insert = `${"#".repeat(level)} `;
    history.together(() => {
      this.#notebook.convert(current, "markdown");
      const old = HEADING.exec(current.source)?.[0] ?? "";
      replaceStart(current, old, insert);
      history.record(() => replaceStart(current, insert, old));
    });
    if (current.isEmpty || current.source === insert) current.edit("end");
    else this.#notebook.run(current);
  }

  fold() {
    const { cells } = this.#selection;
    const folded = !cells.every((cell) => cell.isFolded);
    for (const cell of cells) cell.fold(folded);
  }

  /** Hide or show the cells under the heading in the current cell, or above it. */
  section() {
    const { cells, current } = this.#notebook;
    const above = cells.slice(0, cells.indexOf(current) + 1).reverse();
    const heading = above.find((cell) => sectionOf(this.#notebook, cell).length > 0);
    if (heading) this.#notebook.foldSection(heading);
    else showMessage("There is no heading above this cell.");
  }

  /** Toggle line numbers in the selected cells, or in all. */
  lineNumbers({ all = false } = {}) {
    const cells = all ? this.#notebook.cells : this.#selection.cells;
    const shown = !cells[0].view.dom.querySelector(".cm-lineNumbers");
    for (const cell of cells) setLineNumbers(cell.view, shown);
  }

  find() {
    const { current } = this.#notebook;
    current.edit();
    openSearch(current.view);
  }
}
