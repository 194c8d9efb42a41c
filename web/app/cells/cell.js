/** One cell: its source, outputs and appearance. It does not know its neighbours. */
import { formatSeconds, fromTemplate, refs } from "../base/dom.js";
import { createEditor } from "../editor/editor.js";
import { isFolded, isSectionFolded, withFolding, withSectionFolding } from "./folding.js";
import { askAfter } from "./input-field.js";
import { newCellId } from "./ipynb.js";
import { markdownBox } from "../content/markdown.js";
import { OutputArea } from "./output.js";

const KIND = { code: "code", markdown: "text", raw: "raw text" };

export class Cell {
  #refs;
  #area;
  #actions;
  #help;
  /** @type {any} CodeMirror's; null once the cell is destroyed */
  #view = null;
  #extras;
  #doc;
  #isReadOnly;
  #state = "idle";
  #seconds = 0;
  /** Removes the field of `input()`, if there is one. */
  #stopAsking = () => {};

  /**
   * `actions(cell)` returns the notebook's callbacks. `trust` is the notebook's; see notebook.js.
   * `saved` has the widgets of its file. `root` is a copy of a template with the parts of a cell.
   */
  constructor(model, { actions, help, trust, saved = null, root = fromTemplate("cell") }) {
    const { id = newCellId(), type, source = "", metadata = {}, attachments, shape, readOnly = false } = model;
    this.id = id;
    this.type = type;
    this.#extras = { metadata, attachments, shape };
    this.#isReadOnly = readOnly;
    this.#doc = source;
    this.#actions = actions(this);
    this.#help = help;
    this.root = root;
    this.#refs = refs(this.root);
    this.#area = new OutputArea(this.#refs.outputs, { trust, saved });
    this.executionCount = model.executionCount ?? null;
    this.root.dataset.cellId = id;
    this.root.addEventListener("click", (event) => {
      const action = event.target.closest("[data-cell-action]")?.dataset.cellAction;
      if (action) this.#actions[action]();
    });
    this.#refs.rendered.addEventListener("dblclick", () => this.edit());
    this.#setType(type);
    if (type === "code") this.#area.load(model.outputs ?? [], { own: model.ownOutputs });
    this.#showCount();
    this.root.classList.toggle("folded", isFolded(metadata));
    if (type === "markdown" && source.trim()) this.render();
  }

  /** The editor, null once the cell is destroyed. */
  get view() {
    return this.#view;
  }

  get isFolded() {
    return this.root.classList.contains("folded");
  }

  /** Hide or show the outputs. */
  fold(folded) {
    this.root.classList.toggle("folded", folded);
    this.#extras.metadata = withFolding(this.#extras.metadata, folded);
    this.#actions.changed();
  }

  /** Whether the cells under the heading in this cell are hidden. */
  get isSectionFolded() {
    return isSectionFolded(this.#extras.metadata);
  }

  foldSection(folded) {
    this.#extras.metadata = withSectionFolding(this.#extras.metadata, folded);
    this.#actions.changed();
  }

  /** Show that `count` cells are under the heading in this cell; null if there is no heading. */
  showSection(count) {
    const { section, "section-hint": hint } = this.#refs;
    const folded = this.isSectionFolded && count > 0;
    const cells = `${count} ${count === 1 ? "cell" : "cells"}`;
    section.hidden = !count;
    section.setAttribute("aria-expanded", String(!folded));
    section.title = `${folded ? "Show" : "Hide"} the ${cells} under this heading`;
    section.setAttribute("aria-label", section.title);
    hint.hidden = !folded;
    hint.textContent = `${cells} hidden`;
  }

  get source() {
    return this.#view ? this.#view.state.doc.toString() : this.#doc;
  }

  /** The cell as ipynb.js expects it, and whether its outputs were made in this session. */
  get model() {
    const { id, type, source, executionCount } = this;
    const model = { id, type, source, ...this.#extras };
    if (type !== "code") return model;
    return {
      ...model, executionCount, outputs: this.#area.outputs, ownOutputs: this.#area.isOwn,
    };
  }

  /** Whether there are outputs that this browser made. */
  get isMadeHere() {
    return this.#area.isMadeHere && !this.#area.isEmpty;
  }

  /** The states of the widgets in the outputs, for the notebook's metadata. */
  get widgetStates() {
    return this.#area.widgetStates;
  }

  get isEmpty() {
    return this.source.trim() === "";
  }

  /** Announce the cell's position to screen readers. */
  setPosition(index, count) {
    this.root.setAttribute("aria-label", `Cell ${index + 1} of ${count}, ${KIND[this.type]}`);
  }

  #setType(type) {
    this.type = type;
    this.root.dataset.type = type;
    this.#view?.destroy();
    this.#refs.editor.replaceChildren();
    this.#view = createEditor({
      parent: this.#refs.editor,
      doc: this.#doc,
      type,
      label: type === "code" ? "Python code" : "Text in Markdown",
      help: this.#help,
      keys: this.#actions,
      readOnly: this.#isReadOnly,
      onChange: () => this.#actions.changed(),
    });
  }

  /**
   * Convert a code cell to text or back, keeping the source. Returns a function that undoes it, or
   * returns false if the cell was run since.
   */
  convert(type) {
    const { type: before, isRendered } = this;
    const bringBack = this.clearOutputs();
    this.#become(type);
    return () => {
      if (!bringBack()) return false;
      this.#become(before);
      if (isRendered) this.render();
      return true;
    };
  }

  #become(type) {
    this.#doc = this.source;
    this.#showEditor(true);
    this.#setType(type);
  }

  #showEditor(visible) {
    this.#refs.editor.hidden = !visible;
    this.#refs.rendered.hidden = visible;
    this.root.classList.toggle("rendered", !visible);
  }

  /** Show a text cell's source. */
  showSource() {
    this.#showEditor(true);
  }

  get isRendered() {
    return this.root.classList.contains("rendered");
  }

  /** Render a text cell. */
  render() {
    if (this.type !== "markdown") return;
    const source = this.source || "*Empty text cell*";
    this.#refs.rendered.replaceChildren(markdownBox(source, this.#extras.attachments));
    this.#showEditor(false);
  }

  /** Unfold the headings that hide the cell. */
  reveal() {
    this.#actions.reveal?.();
  }

  /**
   * Put the cursor into the editor, at its "start" or "end" when asked to.
   * @param {"start" | "end" | null} place
   */
  edit(place = null) {
    this.reveal();
    this.#showEditor(true);
    if (place) {
      const anchor = place === "start" ? 0 : this.#view.state.doc.length;
      this.#view.dispatch({ selection: { anchor }, scrollIntoView: true });
    }
    this.#view.focus();
  }

  focus() {
    this.reveal();
    this.root.focus({ preventScroll: true });
    this.root.scrollIntoView({ block: "nearest" });
  }

  /** Whether clearOutputs would remove anything. */
  get wasRun() {
    return this.executionCount !== null || !this.#area.isEmpty;
  }

  /**
   * Clear the outputs. Returns a function that restores them, or returns false if the cell was run
   * since.
   */
  clearOutputs() {
    const { executionCount } = this;
    const { timing } = this.#refs;
    const { hidden } = timing;
    const bringBack = this.#area.setAside();
    this.executionCount = null;
    timing.hidden = true;
    this.#showCount();
    return () => {
      if (!bringBack()) return false;
      this.executionCount = executionCount;
      timing.hidden &&= hidden;
      this.#showCount();
      return true;
    };
  }

  /** Set the state: idle, queued, running or failed. */
  setState(state) {
    this.#state = state;
    this.root.dataset.state = state;
    this.root.setAttribute("aria-busy", String(state === "running" || state === "queued"));
    this.#showCount();
  }

  get hasFailed() {
    return this.#state === "failed";
  }

  get isRunning() {
    return this.#state === "running";
  }

  get isWaiting() {
    return this.#state === "queued" || this.isRunning;
  }

  #showCount() {
    const { count } = this.#refs;
    const label = { queued: "[ ]", running: "[*]" }[this.#state];
    count.textContent = label ?? (this.executionCount === null ? "" : `[${this.executionCount}]`);
    count.title = { queued: "Waiting", running: "Running" }[this.#state] ?? "";
  }

  /** The kernel started this cell, its `executionCount`th. */
  begin(executionCount, kernel) {
    this.executionCount = executionCount;
    this.#area.clear();
    this.#area.kernel = kernel;
    this.#refs.timing.hidden = true;
    this.setState("running");
  }

  /** Handle a message of the running cell. */
  receive(message) {
    if (message.type === "gpu" && message.seconds > 0.001) this.#showTiming(this.#seconds, message);
    if (message.type === "input") this.#stopAsking = askAfter(this.#refs.outputs, message);
    else this.#area.receive(message, this.executionCount);
  }

  /** End the run with the kernel's "done" message `ending`. */
  finish(ending) {
    this.#stopAsking();
    this.#area.settle();
    if (!ending.ok) this.#area.error(ending);
    this.#showTiming(ending.seconds);
    this.setState(ending.ok ? "idle" : "failed");
  }

  /** End a run that has no result, for instance after a restart of the kernel. */
  abandon(reason) {
    this.#stopAsking();
    const running = this.#state === "running";
    this.setState("idle");
    if (running) this.#area.stream("stderr", `[${reason}]\n`);
  }

  /** Show the cell's time: Python's `seconds`, and those that the GPU worked afterwards. */
  #showTiming(seconds, { working = false, seconds: more = 0 } = {}) {
    this.#seconds = seconds;
    this.#refs.timing.textContent = formatSeconds(seconds + more) + (working ? "…" : "");
    this.#refs.timing.title = more === 0 ? "How long the cell ran"
      : `Python ${formatSeconds(seconds)}, then the GPU ${formatSeconds(more)}`;
    this.#refs.timing.hidden = false;
  }

  /** End the pointer input of the cell's drawings. */
  forgetPictures() {
    this.#area?.forgetPictures();
  }

  destroy() {
    this.#doc = this.source;
    this.#view.destroy();
    this.#view = null;
    this.root.remove();
  }
}
