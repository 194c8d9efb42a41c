/** The list of cells: their order, the current one, running, loading and saving. */
import { Cell } from "../cells/cell.js";
import { announce, leaveMessages, showMessage } from "../base/messages.js";
import { runCell } from "../cells/run-cell.js";
import { runAndTell } from "./run-all.js";
import { SavedWidgets } from "../cells/saved-widgets.js";
import { Sheet } from "./sheet.js";
import { Trust } from "../content/trust.js";

/**
 * Events: "change" when saved content changes, "away" (the kernel) when outputs of a sheet change that
 * is not shown, "shown" for another sheet, "ran" ({ok}) after a run; "split" and "section" (the cell)
 * for its commands, "reveal" before a cell gets the focus.
 */
export class Notebook extends EventTarget {
  #root;
  #help;
  #sheet = new Sheet({ metadata: {} }, []);
  /** @type {Cell | null} */
  #current = null;
  /**
   * The empty cell in place of the last one that was deleted.
   * @type {Cell | null}
   */

  constructor({ root, kernel, complete }) {
    super();
    this.#root = root;
    this.#help = { complete, kernel };
    root.addEventListener("focusin", ({ target }) => {
      const cell = this.#cells.find((one) => one.root.contains(target));
      if (cell) this.#makeCurrent(cell);
    });
  }

  /** The sheet that is shown. */
  get sheet() {
    return this.#sheet;
  }

  get #cells() {
    return this.#sheet.cells;
  }

  get cells() {
    return [...this.#cells];
  }

  /** The undo history of the sheet that is shown. */
  get history() {
    return this.#sheet.history;
  }

  get current() {
    return this.#current;
  }

  /**
   * Show a notebook as ipynb.js returns it, or a sheet that was shown before. If it cannot be
   * shown, nothing changes. The previous sheet is left as it is. For `trusted`, see trust.js; `made` has the
   * places of cells whose outputs this browser made.
   * `kernel()` returns the kernel that runs the cells.
   */
  show(notebook, { trusted = false, made = [], kernel }) {
    const sheet = notebook instanceof Sheet ? notebook : this.#sheetOf(notebook, { trusted, made });
    this.#root.replaceChildren(...sheet.cells.map((cell) => cell.root));
    if (sheet !== this.#sheet) leaveMessages();
    this.#sheet = sheet;
    sheet.kernel = kernel();
    this.#makeCurrent(sheet.cells[0]);
    this.#renumber();
    this.dispatchEvent(new Event("shown"));
  }

  #sheetOf(notebook, { trusted, made }) {
    const trust = new Trust(trusted);
    trust.whenGiven(() => this.#changed());
    const saved = new SavedWidgets(notebook.metadata, trust);
    /** @type {Cell[]} */
    const cells = [];
    try {
      const models = notebook.cells.length > 0 ? notebook.cells : [{ type: "code" }];
      models.forEach((model, index) => {
        const isOurs = !trusted && made.includes(index);
        cells.push(this.#make(model, { trust: isOurs ? new Trust(true) : trust, saved }));
      });
    } catch (error) {
      for (const cell of cells) cell.destroy();
      throw error;
    }
    return new Sheet({ ...notebook, trust, saved }, cells);
  }

  #make(model, { trust, saved }) {
    return new Cell(model, { actions: (cell) => this.#actionsOf(cell), help: this.#help, trust, saved });
  }

  #actionsOf(cell) {
    return {
      changed: () => this.#changed(),
      run: () => void this.run(cell),
      runAndMove: () => this.runAndMove([cell]),
      runAndInsert: () => this.runAndInsert([cell]),
      leave: () => {
        if (cell.type === "markdown" && !cell.isEmpty) cell.render();
        cell.focus();
      },
      goUp: () => this.#editNeighbour(cell, -1, "end"),
      goDown: () => this.#editNeighbour(cell, +1, "start"),
      edit: () => cell.edit(),
      up: () => this.move(cell, -1),
      down: () => this.move(cell, +1),
      delete: () => this.delete(cell),
      fold: () => cell.fold(!cell.isFolded),
      split: () => this.#tell("split", cell),
      reveal: () => this.#tell("reveal", cell),
      section: () => this.foldSection(cell),
    };
  }

  #tell(type, cell) {
    this.dispatchEvent(new CustomEvent(type, { detail: cell }));
  }

  #changed() {
    this.dispatchEvent(new Event("change"));
  }

  /** Report that a kernel changed outputs, by default of the sheet that is shown if it runs that. */
  noteOutputs(kernel, isShown = kernel === this.#sheet.kernel) {
    if (isShown) this.#changed();
    else this.dispatchEvent(new CustomEvent("away", { detail: kernel }));
  }

  #makeCurrent(cell) {
    if (this.#current === cell) return;
    this.#current?.root.classList.remove("current");
    this.#current = cell;
    cell.root.classList.add("current");
  }

  #renumber() {
    this.#cells.forEach((cell, index) => cell.setPosition(index, this.#cells.length));
  }

  #neighbour(cell, step) {
    let index = this.#cells.indexOf(cell) + step;
    while (this.#cells[index]?.root.hidden) index += step; // under a folded heading
    return this.#cells[index] ?? null;
  }

  #editNeighbour(cell, step, place) {
    const other = this.#neighbour(cell, step);
    if (!other) return false;
    if (other.type === "markdown" && !other.isEmpty) other.focus();
    else other.edit(place);
    return true;
  }

  /** Focus the cell before (-1) or after (+1) the current one. */
  focusNeighbour(step) {
    this.#neighbour(this.#current, step)?.focus();
  }

  #insertAt(index, model) {
    return this.#place(index, this.#make(model, this.#sheet));
  }

  #place(index, cell) {
    this.#cells.splice(index, 0, cell);
    this.#root.insertBefore(cell.root, this.#root.children[index] ?? null);
    this.#renumber();
    this.#changed();
    return cell;
  }

  insertAfter(cell, model = { type: "code" }) {
    return this.#insertAt(this.#cells.indexOf(cell) + 1, model);
  }

  insertBefore(cell, model = { type: "code" }) {
    return this.#insertAt(this.#cells.indexOf(cell), model);
  }

  append(model) {
    return this.#insertAt(this.#cells.length, model);
  }

  /** Move a cell by so many places. */
  move(cell, step) {
    const index = this.#cells.indexOf(cell);
    const target = index + step;
    if (target < 0 || target >= this.#cells.length) return;
    const active = /** @type {HTMLElement | null} */ (document.activeElement);
    const focused = cell.root.contains(active) ? active : null;
    this.#cells.splice(index, 1);
    this.#cells.splice(target, 0, cell);
    this.#root.insertBefore(cell.root, this.#cells[target + 1]?.root ?? null);
    focused?.focus();
    cell.root.scrollIntoView({ block: "nearest" });
    this.#renumber();
    this.#changed();
    announce(`Moved to place ${target + 1} of ${this.#cells.length}`);
  }

  /** Hide or show the cells under the heading in a cell; see sections.js. */
  foldSection(cell) {
    this.#tell("section", cell);
  }

  delete(cell) {
    this.deleteAll([cell]);
  }

  /** Delete cells as one step. */
  deleteAll(cells) {
    const taken = [];
    this.history.together(() => taken.push(...cells.map((cell) => this.#take(cell))));
    this.#current?.focus();
    if (taken.every(({ cell }) => cell.isEmpty)) return;
    showMessage(taken.length === 1 ? "Cell deleted." : `${taken.length} cells deleted.`, {
      ofNotebook: true,
      action: {
        label: "Undo",
        run: () => taken.reverse().forEach((deletion) => this.undoDelete(deletion)),
      },
    });
  }

  /** Remove a cell in a way that can be undone. */
  #take(cell) {
    // The cell itself is kept, so the outputs of a running cell come back with it.
    const deletion = { index: this.#cells.indexOf(cell), cell, filler: null };
    // Its drawings take no more input, even if it comes back: Python's functions are let go.
    cell.forgetPictures();
    deletion.filler = this.#discard(cell);
    this.#sheet.deleted.push(deletion);
    this.history.record(() => this.undoDelete(deletion));
    return deletion;
  }

  /** Remove a cell. Returns the empty cell that takes its place if it was the only one. */
  #discard(cell) {
    const index = this.#cells.indexOf(cell);
    if (index < 0) return null;
    this.#cells.splice(index, 1);
    cell.root.remove();
    const filler = this.#cells.length === 0 ? this.#insertAt(0, { type: "code" }) : null;
    this.#makeCurrent(this.#cells[Math.min(index, this.#cells.length - 1)]);
    this.#renumber();
    this.#changed();
    return filler;
  }

  /** Restore a deleted cell, by default the last one. */
  undoDelete(deletion) {
    const { deleted } = this.#sheet;
    if (!deleted.includes(deletion)) return false;
    deleted.splice(deleted.indexOf(deletion), 1);
    const restored = this.#place(Math.min(deletion.index, this.#cells.length), deletion.cell);
    const { filler } = deletion;
    if (filler?.isEmpty && this.#cells.includes(filler)) this.#discard(filler);
    restored.focus();
    return true;
  }

  /** Replace cells by new ones of these models, as one step. */
  replace(index, old, models) {
    const made = models.map((model, offset) => this.#insertAt(index + offset, model));
    this.history.together(() => {
      this.history.record(() => {
        for (const cell of made) this.#discard(cell);
        this.#current?.focus();
      });
      for (const cell of old) this.#take(cell);
    });
    return made;
  }

  convert(cell, type) {
    if (cell.type === type) return;
    const undo = cell.convert(type);
    const tell = () => {
      this.#renumber();
      this.#changed();
    };
    this.history.record(() => {
      if (!undo()) return false;
      tell();
    });
    tell();
  }

  clearOutputs() {
    const cells = this.#cells.filter((cell) => cell.type === "code" && cell.wasRun);
    if (cells.length === 0) return;
    const undos = cells.map((cell) => cell.clearOutputs());
    const sheet = this.#sheet;
    const undo = () => {
      if (sheet !== this.#sheet) return false;
      const outcomes = undos.map((one) => one());
      this.#changed();
      return outcomes.includes(true);
    };
    this.history.record(undo);
    this.#changed();
    showMessage("Outputs cleared.", { ofNotebook: true, action: { label: "Undo", run: undo } });
  }

  /** Run a cell. Resolves to whether it succeeded. A text cell is rendered. */
  async run(cell) {
    if (cell.type !== "code") {
      cell.render();
      if (cell.root.contains(document.activeElement)) cell.focus();
      return true;
    }
    if (cell.isWaiting) return false;
    const sheet = this.#sheet;
    const kernel = /** @type {import("../kernel/kernel-client.js").KernelClient} */ (sheet.kernel);
    if (kernel.state === "dead") {
      showMessage("The kernel is not running.", {
        action: { label: "Restart", run: () => kernel.restart() },
      });
      return false;
    }
    if (cell.isEmpty) {
      cell.clearOutputs();
      return true;
    }
    const running = this.#execute(cell, sheet, kernel);
    sheet.track(running);
    return running;
  }

  async #execute(cell, sheet, kernel) {
    const isShown = () => sheet === this.#sheet;
    const { ok, began, text } = await runCell(cell, kernel, () => this.noteOutputs(kernel, isShown()));
    if (!isShown()) return ok;
    if (began) this.dispatchEvent(new CustomEvent("ran", { detail: { ok } }));
    announce(text);
    return ok;
  }

  /** Run cells and go to the next one, which is created if there is none. */
  runAndMove(cells) {
    this.runAll(cells);
    const next = this.#neighbour(cells.at(-1), +1);
    if (next) {
      if (next.type === "markdown" && !next.isEmpty) next.focus();
      else next.edit("end");
    } else this.append({ type: "code" }).edit();
  }

  /** Run cells and add one after them. */
  runAndInsert(cells) {
    this.runAll(cells);
    this.insertAfter(cells.at(-1)).edit();
  }

  /** Run cells. Stops at the first failure. */
  runAll(cells) {
    for (const cell of cells) void this.run(cell);
  }

  /** Run every cell in a kernel that was just restarted. */
  async runAllAnew() {
    // First, the cells report what the restart ended.
    const sheet = this.#sheet;
    await sheet.settled();
    if (sheet === this.#sheet) await runAndTell(this, this.cells);
  }
}
