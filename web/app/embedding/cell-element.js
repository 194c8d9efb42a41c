/** The element <browsergpu-cell>: a cell of the notebook in any page. See docs/embedding.md. */
import { refs, element as make } from "../base/dom.js";
import { announce } from "../base/messages.js";
import { Cell } from "../cells/cell.js";
import { runCell } from "../cells/run-cell.js";
import { sharedSheet } from "../content/foreign.js";
import { Trust } from "../content/trust.js";
import { completionSource } from "../editor/completion.js";
import { showBoot } from "../kernel/boot-view.js";
import { PROBLEMS } from "../kernel/problems.js";
import { explainEnd } from "../kernel/server.js";
import { showKernelState } from "../kernel/status.js";
import { attributesOf } from "./attributes.js";
import { kernel, missingParts, startKernel } from "./page-kernel.js";
import { sourceOf, writtenSource } from "./source.js";

const NAME = "browsergpu-cell";
const SHEETS = ["base", "cell", "outputs", "widgets", "embedded"];

// In a shadow tree, the host takes the place of the page's root.
const sheets = SHEETS.map((name) =>
  sharedSheet(`style/${name}.css`, (text) => text.replaceAll(":root", ":host")));
const help = { complete: completionSource(kernel), kernel };

/** @type {Document} index.html, which has the templates and icons */
let site;
/** Cells with `autorun` run one after another. */
let autoruns = Promise.resolve();
/** Whether the user runs cells although the browser lacks something. */
let goesOn = false;

/** @returns {BrowsergpuCell[]} the cells of the page in its order */
const cellsOfPage = () => [...document.querySelectorAll(NAME)]
  .filter((one) => one instanceof BrowsergpuCell);

class BrowsergpuCell extends HTMLElement {
  #tree = this.attachShadow({ mode: "open" });
  /** @type {Cell | null} null until the source is known, and after an error in the attributes */
  #cell = null;
  #parts = /** @type {any} */ ({});
  #original = "";
  /** Resolves when the cell can run or has an error. */
  #built = Promise.resolve();
  #isBegun = false;
  /** Whether `autorun` was followed, which happens once. */
  #hasAutorun = false;

  connectedCallback() {
    if (this.#isBegun) return; // it was moved
    this.#isBegun = true;
    this.#tree.adoptedStyleSheets = sheets;
    this.#begin();
    let seen = this.#attributes;
    new MutationObserver(() => {
      if (this.#attributes === seen) return;
      seen = this.#attributes;
      this.#begin();
    }).observe(this, { attributes: true });
    kernel.addEventListener("unresponsive", () => this.#offerRestart());
  }

  /** The own attributes, or what is wrong with them, as text. */
  get #attributes() {
    try {
      return JSON.stringify(attributesOf(this));
    } catch (error) {
      return error.message;
    }
  }

  #begin() {
    this.#built = this.#build();
    if (this.#hasAutorun || !this.hasAttribute("autorun")) return;
    this.#hasAutorun = true;
    autoruns = autoruns.then(() => this.run()).then(() => {});
  }

  async #build() {
    const kept = this.#cell && this.source !== this.#original ? this.source : null;
    this.#drop();
    try {
      const { src, readOnly } = attributesOf(this);
      this.#original = await sourceOf(this, src);
      this.#show(kept ?? this.#original, readOnly);
    } catch (error) {
      const text = `${NAME}: ${error.message}`;
      this.#tree.replaceChildren(
        make("p", { className: "embedded-error", role: "alert" }, text), make("slot"));
    }
  }

  #drop() {
    this.#cell?.destroy();
    this.#cell = null;
    this.#tree.replaceChildren(make("slot")); // the source as the page shows it
  }

  /** Show the cell in place of the plain source. */
  #show(source, readOnly) {
    const copy = (found) => document.importNode(/** @type {any} */ (found), true);
    const template = /** @type {HTMLTemplateElement} */ (site.getElementById("embedded-cell"));
    const root = copy(template.content).firstElementChild;
    this.#parts = refs(root);
    this.#tree.replaceChildren(copy(site.querySelector("body > svg")), root);
    this.#cell = new Cell({ type: "code", source, readOnly }, {
      actions: () => this.#actions, help, trust: new Trust(), root,
    });
    root.addEventListener("keydown", (event) => {
      if (event.target !== root || event.key !== "Enter") return;
      event.preventDefault();
      if (event.shiftKey || event.ctrlKey || event.metaKey) void this.run();
      else this.#cell?.edit();
    });
    const { boot, "boot-bar": bar, "boot-stage": stage, "boot-bytes": bytes } = this.#parts;
    showBoot(kernel, { box: boot, bar, stage, bytes });
    showKernelState(kernel, this.#parts.kernel);
    this.#noteChange();
    cellsOfPage().forEach((one, index, all) => one.#place(index, all.length));
  }

  get #actions() {
    const cell = () => /** @type {Cell} */ (this.#cell);
    const run = () => void this.run();
    return {
      changed: () => this.#noteChange(),
      run,
      runAndMove: run,
      runAndInsert: run,
      runFromTop: () => void this.#runFromTop(),
      interrupt: () => kernel.interrupt(),
      reset: () => this.#reset(),
      leave: () => cell().focus(),
      goUp: () => false,
      goDown: () => false,
      split: () => {},
    };
  }

  /** The code in the editor. */
  get source() {
    return this.#cell?.source ?? writtenSource(this);
  }

  #place(index, count) {
    if (!this.#cell) return;
    this.#cell.setPosition(index, count);
    this.#parts["from-top"].hidden = index === 0;
  }

  #noteChange() {
    if (this.#cell) this.#parts.reset.hidden = this.source === this.#original;
  }

  #reset() {
    const { view } = /** @type {Cell} */ (this.#cell);
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: this.#original } });
    this.#cell?.focus();
  }

  /** Show text in place of earlier notes, with at most one button. */
  #note(parts, label = "", act = () => {}) {
    const { notes } = this.#parts;
    notes.replaceChildren(...parts);
    if (!label) return;
    const button = make("button", { type: "button" }, label);
    button.addEventListener("click", () => {
      notes.replaceChildren();
      act();
    });
    notes.append(button);
  }

  #offerRestart() {
    if (this.#cell?.root.dataset.state !== "running") return;
    this.#note([make("p", {}, "The code does not react to the interrupt. A restart ends it; the "
      + "variables of all cells on this page are lost.")], "Restart Python", () => kernel.restart());
  }

  /** Whether the cell can run, after questions that it may show. */
  async #isReady() {
    await this.#built;
    if (!this.#cell) return false;
    const problems = goesOn ? [] : await missingParts();
    if (problems.length === 0) return true;
    const parts = problems.flatMap((key) => {
      const { title, what, todo } = PROBLEMS[key];
      return [make("h3", {}, title), make("p", {}, what),
        make("ul", {}, ...todo.map((step) => make("li", {}, step)))];
    });
    this.#note(parts, "Run it anyway", () => {
      goesOn = true;
      void this.run();
    });
    return false;
  }

  /** Run the cell after those that run or wait. Resolves to whether it succeeded. */
  async run() {
    return await this.#isReady() && this.#queue();
  }

  /** Run the page's cells above this one, and this one. The first failure ends it. */
  async #runFromTop() {
    const all = cellsOfPage();
    const wanted = all.slice(0, all.indexOf(this) + 1);
    const ready = await Promise.all(wanted.map((one) => one.#isReady()));
    wanted.filter((_one, index) => ready[index]).forEach((one) => void one.#queue());
  }

  async #queue() {
    const cell = /** @type {Cell} */ (this.#cell);
    if (cell.isWaiting) return false;
    if (cell.isEmpty) {
      cell.clearOutputs();
      return true;
    }
    this.#parts.notes.replaceChildren();
    startKernel();
    this.dispatchEvent(new Event("run", { bubbles: true }));
    const { ok, text } = await runCell(cell, kernel, () => {});
    announce(text);
    if (kernel.state === "dead" && this.#cell === cell) {
      this.#note([make("p", {}, `${await explainEnd(kernel.message)} Run the cell to start it again.`)]);
    }
    this.dispatchEvent(new CustomEvent("ran", { bubbles: true, detail: { ok } }));
    return ok;
  }
}

/** Define the element. `page` is the site's index.html. */
export function defineCell(page) {
  site = page;
  if (!customElements.get(NAME)) customElements.define(NAME, BrowsergpuCell);
}
