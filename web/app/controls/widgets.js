/**
 * Jupyter widgets below cells. Python has their objects, which comms connect to their other halves
 * (in-frame.js). These run in frames, since widgets may have scripts of their own.
 */
import { element } from "../base/dom.js";
import { isOutput, WidgetModels } from "./widget-models.js";
import { widgetFrame } from "./widget-frame.js";
import { plainOutputs } from "./widget-text.js";

/** The MIME type of a widget in a display. */
export const WIDGET = "application/vnd.jupyter.widget-view+json";

/** Emits "change" (the kernel) when saved content changes. */
class Widgets extends EventTarget {
  /** @type {WeakMap<object, WidgetModels>} the widgets of each kernel since its start */
  #models = new WeakMap();
  /** @type {(root: HTMLElement, kernel: any) => any} */
  #makeArea = () => null;

  /** `makeArea(root, kernel)` creates the output areas of Output widgets. */
  useAreas(makeArea) {
    this.#makeArea = makeArea;
  }

  /** Listen to a kernel. Widgets of a stopped kernel stay visible but disabled. */
  connect(kernel) {
    const begin = () => {
      this.#models.get(kernel)?.end();
      this.#models.set(kernel, new WidgetModels(kernel, (root) => this.#makeArea(root, kernel)));
    };
    begin();
    const models = () => /** @type {WidgetModels} */ (this.#models.get(kernel));
    const changed = () => this.dispatchEvent(new CustomEvent("change", { detail: kernel }));
    kernel.addEventListener("state", ({ detail: { state } }) => {
      if (state === "loading" || state === "dead") begin();
    });
    kernel.addEventListener("comm", ({ detail }) => {
      models().receive(detail);
      changed();
    });
    kernel.addEventListener("widget-module", ({ detail: { name, text } }) =>
      models().modules.set(name, text));
    kernel.addEventListener("ran", () => models().tellOutputs());
    kernel.addEventListener("captured", ({ detail }) => {
      models().outputs.receive(detail);
      changed();
    });
  }

  /** Return a box with a widget of the kernel of `area`, null if the kernel does not have it. */
  show({ model_id: id }, area) {
    const models = this.#models.get(area.kernel);
    return models?.has(id) ? element("div", { className: "widget" }, widgetFrame(models, id, area)) : null;
  }

  /** The output of a widget is about to go: end the pointer input of drawings in it. */
  forgetPictures({ model_id: id }, area) {
    const models = this.#models.get(area.kernel);
    if (!models) return;
    const inside = [...models.within(id)].filter(([, state]) => isOutput(state));
    queueMicrotask(() => inside.forEach(([one]) => models.outputs.forgetUnshown(one)));
  }

  /** Return the replacement in files of the widget in an output: values as text, and its outputs. */
  plain(output, area) {
    const models = this.#models.get(area.kernel);
    const id = output.data[WIDGET].model_id;
    if (!models?.has(id)) return [output];
    return plainOutputs(models, id, output.data["text/plain"]);
  }
}

export const widgets = new Widgets();
