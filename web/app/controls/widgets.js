/**
 * Controls that Python shows below a cell (kernel/notebook_kernel/widget.py). Python has their
 * state; this shows it, and runs Python when the person changes it: one change at a time, the latest
 * alone where several came meanwhile.
 */
import { BOXES } from "./boxes.js";
import { CONTROLS, asText } from "./controls.js";
import { element } from "../base/dom.js";

/** The MIME type of a widget in a display: text in JSON, never saved. */
export const WIDGET = "application/vnd.browsergpu.widget";

/**
 * A widget on the page; it may be shown at several places.
 * @typedef {{
 *   id: string, kind: string, state: any, children: string[], shown: Set<(state: any) => void>,
 *   areas: Set<{root: HTMLElement, area: any}>, waiting: any, running: boolean,
 * }} Model
 */

/** Emits "change" when what would be saved has changed. */
class Widgets extends EventTarget {
  #kernel;
  /** @type {Map<string, Model>} */
  #models = new Map();

  /** Listen to a kernel; the controls of one that ended stay as they are, switched off. */
  connect(kernel) {
    this.#kernel = kernel;
    kernel.addEventListener("widget", ({ detail }) => this.#receive(detail));
    kernel.addEventListener("state", ({ detail: { state } }) => {
      if (state !== "loading" && state !== "dead") return;
      for (const model of this.#models.values()) this.#update(model, { disabled: true });
      this.#models.clear();
    });
  }

  /**
   * A widget and all in it. `area` takes what its handlers print; `makeArea(root)` makes an output
   * area for the places of outputs among it.
   */
  show(json, area, makeArea) {
    return this.#view(JSON.parse(json), area, makeArea);
  }

  #view(tree, area, makeArea) {
    const { id, kind, state, children = [] } = tree;
    const model = this.#models.get(id) ?? {
      id, kind, state, children: [], shown: new Set(), areas: new Set(), waiting: null,
      running: false,
    };
    this.#models.set(id, model);
    model.children = children.map((child) => child.id);
    if (kind === "output") {
      const root = element("div");
      model.areas.add({ root, area: makeArea(root) });
      return root;
    }
    const send = (event) => this.#send(model, event, area);
    if (BOXES[kind]) {
      const box = BOXES[kind](send);
      const fill = (trees) => box.fill(trees.map((child) => this.#view(child, area, makeArea)));
      fill(children);
      model.shown.add(({ trees, ...more }) => {
        if (trees) fill(trees);
        box.show(more);
      });
      this.#update(model, state);
      return box.element;
    }
    const control = CONTROLS[kind](send);
    model.shown.add(control.show);
    this.#update(model, state);
    return control.element;
  }

  /** @param {Model} model */
  #update(model, state) {
    model.state = { ...model.state, ...state };
    for (const show of model.shown) show(model.state);
  }

  #receive(message) {
    const model = this.#models.get(message.widget);
    if (!model) return;
    if (message.type === "state") this.#update(model, message.state);
    else if (message.type === "children") {
      const { children, state } = message.tree;
      model.children = children.map(({ id }) => id);
      model.state = state;
      for (const show of model.shown) show({ ...state, trees: children });
    } else if (message.type === "close") this.#update(model, { disabled: true });
    else for (const place of model.areas) deliver(place, message);
    this.dispatchEvent(new Event("change"));
  }

  /** @param {Model} model */
  async #send(model, event, area) {
    const clicks = (model.waiting?.clicks ?? 0) + (event.clicks ?? 0);
    model.waiting = { ...model.waiting, ...event, ...(clicks ? { clicks } : {}) };
    if (model.running) return;
    model.running = true;
    try {
      while (model.waiting) {
        const json = JSON.stringify(model.waiting);
        model.waiting = null;
        const ending = await this.#kernel.run({
          name: () => "a control",
          code: `__import__("notebook_kernel.widget").widget.receive(${JSON.stringify(model.id)}, `
            + `${JSON.stringify(json)})`,
          listener: (message) => area.receive(message),
        });
        if (!ending.ok) area.error(ending);
      }
    } catch {
      // The kernel ended: its controls are switched off, and the page tells.
      model.waiting = null;
    } finally {
      model.running = false;
    }
  }

  /** What a file has in the place of a widget: settings as text, and what its outputs show. */
  plain(json) {
    const outputs = [];
    const texts = [];
    const visit = ({ id, children = [] }, kind, state) => {
      const model = this.#models.get(id);
      const [place] = model?.areas ?? [];
      if (place) outputs.push(...place.area.outputs);
      else texts.push(asText({ kind, state: model?.state ?? state }));
      for (const child of children) visit(child, child.kind, child.state);
    };
    const tree = JSON.parse(json);
    visit(tree, tree.kind, tree.state);
    const text = texts.filter(Boolean).join(", ");
    const told = { output_type: "display_data", data: { "text/plain": text }, metadata: {} };
    return text ? [told, ...outputs] : outputs;
  }
}

/** Give a message to an area; the page does not jump while one picture takes another's place. */
function deliver({ root, area }, message) {
  if (message.type === "clear" && message.wait) root.style.minHeight = `${root.offsetHeight}px`;
  if (message.type === "error") area.error(message);
  else area.receive(message);
  if (message.type === "clear") return;
  const pictures = [...root.querySelectorAll("img")].map((image) => image.decode().catch(() => {}));
  void Promise.all(pictures).then(() => {
    root.style.minHeight = "";
  });
}

export const widgets = new Widgets();
