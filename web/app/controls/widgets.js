/**
 * Jupyter widgets below cells. Python has their objects, which comms connect to their other halves
 * (in-frame.js). These run in frames, since widgets may have scripts of their own.
 */
import { WidgetModels } from "./widget-models.js";

/** Emits "change" (the kernel) when saved content changes. */
class Widgets extends EventTarget {
  /** @type {WeakMap<object, WidgetModels>} the widgets of each kernel since its start */
  #models = new WeakMap();
  /** @type {(root: HTMLElement, whose: any) => any} */
  #makeArea = () => null;

  /** `makeArea(root, { kernel, trust, saved })` creates the output areas of Output widgets. */
  useAreas(makeArea) {
    this.#makeArea = makeArea;
  }

  /** Listen to a kernel. Widgets of a stopped kernel stay visible but disabled. */
  connect(kernel) {
    const begin = () => {
      this.#models.get(kernel)?.end();
      this.#models.set(kernel, new WidgetModels(kernel, (root) => this.#makeArea(root, { kernel })));
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

  /**
   * The widgets of a kernel since its start, undefined without one.
   * @returns {WidgetModels | undefined}
   */
  modelsOf(kernel) {
    return this.#models.get(kernel);
  }

  /** Return the widgets of a notebook file by their `states`. `saved` is for the areas in them. */
  savedModels(states, { trust, saved }) {
    const models = new WidgetModels(null, (root) => this.#makeArea(root, { trust, saved }));
    models.load(states, { isTrusted: trust.isGiven });
    return models;
  }
}

export const widgets = new Widgets();
