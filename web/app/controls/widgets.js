/**
 * Controls that Python shows below a cell (kernel/notebook_kernel/widget.py). Python has their
 * state. The page shows it, and runs Python when the user changes it. One change runs at a time; of
 * those that arrive meanwhile, only the latest is kept.
 */
import { BOXES } from "./boxes.js";
import { CONTROLS, asText } from "./controls.js";
import { element } from "../base/dom.js";

/** The MIME type of a widget in a display: JSON text, never saved. */
export const WIDGET = "application/vnd.browsergpu.widget";

/**
 * A widget on the page; it may be shown at several places.
 * @typedef {{
 *   id: string, kind: string, state: any, children: string[], shown: Set<(state: any) => void>,
 *   areas: Set<{root: HTMLElement, area: any}>, waiting: any, running: boolean,
 * }} Model
 */

/** Emits "change" (the kernel) when saved content changes. */
class Widgets extends EventTarget {
  /** @type {WeakMap<object, Map<string, Model>>} each kernel's widgets by id */
  #models = new WeakMap();

  /** Listen to a kernel. Controls of a stopped kernel stay visible but disabled. */
  connect(kernel) {
    const models = new Map();
    this.#models.set(kernel, models);
    kernel.addEventListener("widget", ({ detail }) => {
      this.#receive(models.get(detail.widget), detail, kernel);
    });
    kernel.addEventListener("state", ({ detail: { state } }) => {
      if (state !== "loading" && state !== "dead") return;
      for (const model of models.values()) this.#update(model, { disabled: true });
      models.clear();
    });
  }

  /** The widgets of the kernel that makes the outputs of `area`. */
  #modelsOf({ kernel }) {
    return this.#models.get(kernel) ?? new Map();
  }

  /**
   * Show a widget of the kernel of `area`, and its children. `area` receives what its handlers
   * print. `makeArea(root)` creates an output area for Output widgets.
   */
  show(json, area, makeArea) {
    return this.#view(JSON.parse(json), area, makeArea);
  }

  #view(tree, area, makeArea) {
    const { id, kind, state, children = [] } = tree;
    const models = this.#modelsOf(area);
    const model = models.get(id) ?? {
      id, kind, state, children: [], shown: new Set(), areas: new Set(), waiting: null,
      running: false,
    };
    models.set(id, model);
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

  /** @param {Model | undefined} model */
  #receive(model, message, kernel) {
    if (!model) return;
    if (message.type === "state") this.#update(model, message.state);
    else if (message.type === "children") {
      const { children, state } = message.tree;
      model.children = children.map(({ id }) => id);
      model.state = state;
      for (const show of model.shown) show({ ...state, trees: children });
    } else if (message.type === "close") this.#update(model, { disabled: true });
    else for (const place of model.areas) deliver(place, message);
    this.dispatchEvent(new CustomEvent("change", { detail: kernel }));
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
        const ending = await area.kernel.run({
          name: () => "a control",
          code: `__import__("notebook_kernel.widget").widget.receive(${JSON.stringify(model.id)}, `
            + `${JSON.stringify(json)})`,
          listener: (message) => area.receive(message),
        });
        if (!ending.ok) area.error(ending);
      }
    } catch {
      // The kernel stopped: disable its controls and report it.
      model.waiting = null;
    } finally {
      model.running = false;
    }
  }

  /** Return the replacement in files of a widget in `area`: values as text, and its outputs. */
  plain(json, area) {
    const models = this.#modelsOf(area);
    const outputs = [];
    const texts = [];
    const visit = ({ id, children = [] }, kind, state) => {
      const model = models.get(id);
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

/** Pass a message to an area. The page does not jump while one image replaces another. */
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
