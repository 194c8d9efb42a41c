/** Outputs of a cell, on the page and in nbformat's form. */
import { element } from "../base/dom.js";
import { rememberDisplay, updateDisplays } from "./display-ids.js";
import { followEnd, followEndFrom } from "../base/follow-end.js";
import { htmlOutput } from "../content/html-output.js";
import { latexBox, markdownBox } from "../content/markdown.js";
import { shorten } from "./long-text.js";
import { Picture, setShownWidth } from "../base/picture.js";
import { pointerInput } from "./pointer-input.js";
import { isForTerminals, terminalNodes } from "./stream-text.js";
import { pictureView } from "./picture-view.js";
import { Trust } from "../content/trust.js";
import { ownStates } from "./saved-widgets.js";
import { widgetFrame } from "../controls/widget-frame.js";
import { WIDGET } from "../controls/widget-models.js";
import { withReplacement } from "../controls/widget-text.js";
import { widgets } from "../controls/widgets.js";

/** @typedef {{own: boolean, trust: Trust}} Whose see html-output.js */
/**
 * @type {[
 *   mime: string, render: (data: string, alt: string, metadata: any, whose: Whose) => HTMLElement,
 * ][]}
 */
const RENDERERS = [
  ["text/html", (html, _alt, _metadata, whose) => htmlOutput(html, whose)],
  ["image/svg+xml", (svg, alt) => image(svgUrl(svg), alt)],
  ["image/png", (data, alt, metadata) => image(`data:image/png;base64,${data}`, alt, metadata)],
  ["image/jpeg", (data, alt, metadata) => image(`data:image/jpeg;base64,${data}`, alt, metadata)],
  ["text/markdown", (source) => markdownBox(source)],
  ["text/latex", latexBox],
  ["application/javascript", () => element("p", { className: "inert-note" },
    "This output is JavaScript for the page around it, which is not run here.")],
  ["text/plain", (text) => preformatted("output-text", text)],
];

function image(src, alt, { width } = /** @type {{width?: number}} */ ({})) {
  const shown = element("img", { src, alt: alt || "Image output" });
  if (width !== undefined && Number.isFinite(width)) {
    shown.addEventListener("load", () => {
      const { naturalWidth } = shown;
      // A figure for a dense screen has more pixels than its width on the page.
      if (width < naturalWidth) shown.style.width = `${width}px`;
      else setShownWidth(shown, naturalWidth, width);
    });
  }
  return shown;
}

// As an image, an SVG can neither run scripts nor load anything.
function svgUrl(svg) {
  return `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
}

function preformatted(className, text) {
  const box = element("pre", { className }, ...terminalNodes(text));
  // Long lines scroll, so the box must be reachable by keyboard.
  box.tabIndex = 0;
  return box;
}

function renderData(data, metadata, whose) {
  const found = RENDERERS.find(([mime]) => mime in data);
  if (!found) return preformatted("output-text", `[${Object.keys(data).join(", ")}]`);
  const [mime, render] = found;
  return render(data[mime], data["text/plain"], metadata?.[mime] ?? {}, whose);
}

export class OutputArea {
  #root;
  /** @type {any[]} */
  #outputs = [];
  /** @type {HTMLElement | null} the box of the last output, if it is a stream */
  #stream = null;
  /** Whether the next output replaces all others. */
  #clearsNext = false;
  /** The end of printed text whose middle is omitted. */
  #tail = [];
  /** @type {Map<string, Picture>} images of the run, by canvas name */
  #pictures = new Map();
  #trust;
  /** The widgets of the notebook's file. */
  #saved;
  /** @type {WeakMap<object, import("../controls/widget-models.js").WidgetModels>} by output */
  #widgets = new WeakMap();
  /** Whether the outputs were made in this session. */
  #own = true;
  /**
   * The kernel that makes the outputs, null until a cell runs.
   * @type {any}
   */
  kernel;

  /**
   * `trust` is the trust in the notebook of these outputs, and `saved` has the widgets of its file.
   * @param {HTMLElement} root
   * @param {{
   *   trust?: Trust, kernel?: object | null, saved?: import("./saved-widgets.js").SavedWidgets | null,
   * }} whose
   */
  constructor(root, { trust = new Trust(), kernel = null, saved = null } = {}) {
    this.#root = root;
    this.kernel = kernel;
    this.#trust = trust;
    this.#saved = saved;
  }

  get isOwn() {
    return this.#own;
  }

  /** Whether the outputs were made in this browser, or are trusted like such. */
  get isMadeHere() {
    return this.#own || this.#trust.isGiven;
  }

  /** Handle a message of the kernel (outputs.py). `executionCount` is the cell's. */
  receive(message, executionCount) {
    const { type, data, metadata } = message;
    if (type === "clear") this.#clearsNext = message.wait || this.clear();
    else if (type === "update") updateDisplays(this.kernel, message.display_id, data, metadata);
    else if (type === "tail") this.#showTail(message.left_out, message.pieces);
    else if (type === "picture") this.picture(message);
    else if (type === "error") this.error(message);
    else if (type === "stream") this.stream(message.name, message.text);
    else if (type === "result") this.result(executionCount, data, metadata);
    else if (type === "display") this.display(data, metadata, message.display_id);
  }

  clear() {
    this.#clearsNext = false;
    this.#own = true;
    this.#tail = [];
    this.forgetPictures();
    this.#outputs = [];
    this.#stream = null;
    this.#pictures = new Map();
    this.#root.replaceChildren();
  }

  get isEmpty() {
    return this.#outputs.length === 0;
  }

  /**
   * Clear the outputs. Returns a function that restores them before newer ones, or returns false if
   * those were cleared.
   */
  setAside() {
    const nodes = [...this.#root.childNodes];
    const [outputs, tail, stream, pictures] = [
      this.#outputs, this.#tail, this.#stream, this.#pictures,
    ];
    this.clear();
    const since = this.#outputs;
    return () => {
      if (this.#outputs !== since) return false;
      if (since.length === 0) {
        [this.#outputs, this.#tail, this.#stream] = [outputs, tail, stream];
      } else this.#outputs = [...outputs, ...since];
      this.#pictures = new Map([...pictures, ...this.#pictures]);
      this.#root.prepend(...nodes);
      return true;
    };
  }

  /** The outputs in nbformat's form. */
  get outputs() {
    return this.#outputs.map((output) => {
      if (output instanceof Picture) return output.output;
      const models = this.#widgets.get(output);
      return models && this.#own ? withReplacement(output, models) : output;
    });
  }

  /** The ids of the widgets in the outputs. */
  get widgetIds() {
    return this.#views.map(({ data }) => data[WIDGET].model_id);
  }

  get #views() {
    return this.#outputs.filter(({ data }) => data && WIDGET in data);
  }

  /** The states of the widgets in the outputs, by id, as files have them. */
  get widgetStates() {
    const views = this.#views;
    if (!this.#own) return views.length > 0 && this.#saved ? this.#saved.states : {};
    return Object.assign({}, ...views.map((output) => {
      const models = this.#widgets.get(output);
      return models ? ownStates(models, [output.data[WIDGET].model_id]) : {};
    }));
  }

  /** The outputs with a line of text in place of each drawing, which would take long to encode. */
  get outputsWithoutPixels() {
    return this.#outputs.map((output) => (output instanceof Picture
      ? { output_type: "display_data", data: { "text/plain": output.text }, metadata: {} } : output));
  }

  /** Show outputs in nbformat's form. They are from a file unless they are `own`. */
  load(outputs, { own = false } = {}) {
    this.clear();
    this.#own = own;
    this.append(outputs);
  }

  /** Add outputs in nbformat's form. */
  append(outputs) {
    for (const output of outputs) this.#add(output);
    this.settle();
  }

  /** Shorten long text after the run. */
  settle() {
    this.#outputs.forEach((output, index) => {
      if (output.output_type !== "stream") return;
      const pre = this.#root.children[index]?.querySelector("pre");
      if (pre) shorten(pre, output.text);
    });
    this.#stream = null; // text of a background task begins a new output
  }

  stream(name, text) {
    if (this.#clearsNext) this.clear();
    const last = this.#outputs.at(-1);
    if (this.#stream && last.name === name) {
      last.text += text;
      if (isForTerminals(last.text)) this.#stream.replaceChildren(...terminalNodes(last.text));
      else /** @type {Text} */ (this.#stream.firstChild).appendData(text);
    } else this.#add({ output_type: "stream", name, text });
    followEnd(this.#root.lastElementChild?.querySelector("pre"));
  }

  display(data, metadata, displayId = null) {
    const output = { output_type: "display_data", data, metadata };
    this.#add(output);
    if (displayId !== null) {
      rememberDisplay(this.kernel, displayId, (...changed) => this.#replace(output, ...changed));
    }
  }

  /** Update a display. Returns false if it is gone. */
  #replace(output, data, metadata) {
    const index = this.#outputs.indexOf(output);
    if (index < 0) return false;
    Object.assign(output, { data, metadata });
    this.#root.children[index].replaceWith(this.#render(output));
    return true;
  }

  #showTail(leftOut, pieces) {
    const [first] = this.#tail;
    const index = first ? this.#outputs.indexOf(first) : this.#outputs.length;
    const tail = pieces.map(([name, text]) => ({ output_type: "stream", name, text }));
    if (leftOut > 0) {
      const text = `\n[${leftOut.toLocaleString("en")} characters are left out here]\n`;
      tail.unshift({ output_type: "stream", name: "stderr", text });
    }
    const lastOf = (some) =>
      this.#root.children[index + some.length - 1]?.querySelector("pre") ?? null;
    const before = first ? lastOf(this.#tail) : null;
    const top = before?.scrollTop ?? 0;
    this.#tail.forEach(() => this.#root.children[index].remove());
    const next = this.#root.children[index] ?? null;
    for (const output of tail) this.#root.insertBefore(this.#render(output), next);
    this.#outputs.splice(index, this.#tail.length, ...tail);
    this.#tail = tail;
    this.#stream = null;
    if (before) followEndFrom(lastOf(tail), before, top);
    else followEnd(lastOf(tail));
  }

  /** Show an image from a canvas in place of that canvas's previous image. */
  picture({ id, canvas, picture: bitmap, owner, plot }) {
    if (this.#clearsNext) this.clear();
    let picture = this.#pictures.get(canvas);
    if (!picture) {
      const made = new Picture(canvas);
      picture = made;
      this.#pictures.set(canvas, picture);
      this.#outputs.push(picture);
      this.#stream = null;
      const send = (row) => pointerInput(this.kernel).send(made, row, this);
      const ask = (x, y) => this.kernel.valueAt(canvas, made.drawing, x, y);
      this.#root.append(element("div", { className: "output display_data" }, pictureView(made, send, ask)));
      made.drawing = id;
    }
    const known = owner ?? plot;
    if (known !== null && picture.drawing !== known) {
      this.#forget(picture);
      picture.drawing = known;
    }
    // A run other than its own draws a plot anew.
    picture.show(bitmap, owner, plot, plot !== null && plot !== id);
  }

  /** End the pointer input of all pictures, and drop their arrays. */
  forgetPictures() {
    for (const picture of this.#pictures.values()) this.#forget(picture);
    for (const output of this.#outputs) {
      this.#widgets.get(output)?.forgetPictures(output.data[WIDGET].model_id);
    }
  }

  #forget(picture) {
    if (picture.drawing === null) return;
    this.kernel?.forgetDrawing(picture.name, picture.drawing);
    picture.release();
  }

  result(executionCount, data, metadata) {
    this.#add({ output_type: "execute_result", execution_count: executionCount, data, metadata });
  }

  error({ name, message, traceback, full, shortened }) {
    const lines = traceback.replace(/\n$/, "").split("\n");
    this.#add({ output_type: "error", ename: name, evalue: message, traceback: lines });
    if (shortened) {
      this.#root.lastElementChild?.append(element("details", { className: "output-full" },
        element("summary", {}, "Show the libraries' frames too"),
        preformatted("output-traceback", full)));
    }
  }

  #add(output) {
    if (this.#clearsNext) this.clear();
    this.#outputs.push(output);
    this.#stream = null;
    this.#root.append(this.#render(output));
  }

  #render(output) {
    const box = element("div", { className: `output ${output.output_type}` });
    if (output.output_type === "stream") {
      box.classList.add(output.name);
      this.#stream = preformatted("output-text", output.text);
      box.append(this.#stream);
    } else if (output.output_type === "error") {
      box.append(preformatted("output-traceback", output.traceback.join("\n")));
    } else {
      box.append(this.#widget(output)
        ?? renderData(output.data, output.metadata, { own: this.#own, trust: this.#trust }));
    }
    return box;
  }

  /** Return the widget in an output, null if it has none or its state is unknown. */
  #widget(output) {
    const id = output.data[WIDGET]?.model_id;
    const models = this.#own ? widgets.modelsOf(this.kernel) : this.#saved?.models;
    if (!id || !models?.canShow(id)) return null;
    this.#widgets.set(output, models);
    return element("div", { className: "widget" }, widgetFrame(models, id, this));
  }
}

widgets.useAreas((root, whose) => new OutputArea(root, whose));
