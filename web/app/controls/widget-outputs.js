/** The contents of Output widgets: output areas of the page, which lie upon the widgets' frames. */
import { element } from "../base/dom.js";

/** @typedef {{root: HTMLElement, area: any}} Place */

export class WidgetOutputs {
  #makeArea;
  #own;
  /** @type {Map<string, Place[]>} the places of each widget; the first is always there */
  #places = new Map();
  /** @type {Set<string>} the widgets whose outputs Python does not know */
  #changed = new Set();
  /** @type {Map<string, any[]>} the outputs that Python knows, by widget */
  #known = new Map();

  /** `own` means that the outputs were made in this session. */
  constructor(makeArea, { own = true } = {}) {
    this.#makeArea = makeArea;
    this.#own = own;
  }

  #make() {
    const root = element("div");
    return { root, area: this.#makeArea(root) };
  }

  /** @returns {Place[]} */
  #of(id) {
    const found = this.#places.get(id) ?? [this.#make()];
    this.#places.set(id, found);
    return found;
  }

  /** Handle an output that the widget `message.widget` captured. */
  receive(message) {
    for (const place of this.#of(message.widget)) deliver(place, message);
    this.#changed.add(message.widget);
  }

  /** Return the outputs that have changed since the last call, by widget, with drawings as text. */
  takeChanged() {
    for (const id of this.#changed) this.#known.set(id, this.#of(id)[0].area.outputsWithoutPixels);
    const changed = [...this.#changed].map((id) => ({ id, outputs: this.#known.get(id) }));
    this.#changed.clear();
    return changed;
  }

  /** Show the outputs that Python has set. Those before them stay, if Python only adds to them. */
  load(id, outputs) {
    const known = this.#changed.has(id) ? null : this.#known.get(id);
    const adds = known && JSON.stringify(outputs.slice(0, known.length)) === JSON.stringify(known);
    for (const { area } of this.#of(id)) {
      if (adds) area.append(outputs.slice(known.length));
      else area.load(outputs, { own: this.#own });
    }
    this.#known.set(id, outputs);
    this.#changed.delete(id);
  }

  /** The outputs of a widget in nbformat's form. */
  outputsOf(id) {
    return this.#of(id)[0].area.outputs;
  }

  /** The ids of the widgets that a widget's outputs show. */
  widgetsIn(id) {
    return this.#of(id)[0].area.widgetIds;
  }

  /** End the pointer input of a widget's drawings, and drop their arrays, if no place shows it. */
  forgetUnshown(id) {
    const places = this.#of(id);
    if (places.some(({ root }) => root.isConnected)) return;
    for (const { area } of places) area.forgetPictures();
  }

  /** Return an element with the widget's outputs that is not on the page yet. */
  show(id) {
    const places = this.#of(id);
    const unused = places.find(({ root }) => !root.isConnected);
    if (unused) return unused.root;
    const made = this.#make();
    made.area.load(this.outputsOf(id), { own: this.#own });
    places.push(made);
    return made.root;
  }
}

/** Pass a message to an area. The page does not jump while one image replaces another. */
function deliver({ root, area }, message) {
  if (message.type === "clear" && message.wait) root.style.minHeight = `${root.offsetHeight}px`;
  area.receive(message);
  if (message.type === "clear") return;
  const pictures = [...root.querySelectorAll("img")].map((image) => image.decode().catch(() => {}));
  void Promise.all(pictures).then(() => {
    root.style.minHeight = "";
  });
}
