/** The frame of a displayed widget, on the page's side. in-frame.js is the other side. */
import { addressOf } from "../../kernel/addresses.js";
import { element } from "../base/dom.js";
import { settings } from "../base/settings.js";
import { connectedFrame } from "../content/active-frame.js";
import { mathHtml, mathLook } from "../content/math.js";

/**
 * A frame of a kernel's widgets: `held` has those whose changes it gets.
 * @typedef {{held: Set<string>, post: (message: any) => void}} Frame
 */

const FOLDER = "vendor/@jupyter-widgets/html-manager/dist/";
const TEXTS = [
  "app/controls/in-frame.js", `${FOLDER}libembed-amd.js`, "app/controls/copy-in-frame.js", "style/in-frame.css",
];
/** The library's icons by its names for their fonts. */
const FONTS = [
  { family: "Font Awesome 5 Free", weight: "900", file: "1551f4f60c37af51121f.woff2" },
  { family: "Font Awesome 5 Free", weight: "400", file: "7a3337626410ca2f4071.woff2" },
  { family: "Font Awesome 5 Brands", weight: "400", file: "d878b0a6a1144760244f.woff2" },
];
/** The page's colours and fonts, which the frame takes on. */
const LOOKS = [
  "surface", "surface-sunken", "line", "line-strong", "ink", "ink-soft", "accent", "accent-ink",
  "accent-soft", "focus", "danger", "warning", "sans", "mono",
];

/** The frames on the page, which follow the theme. */
const shown = new Set();
settings.addEventListener("change", () => {
  for (const showLook of shown) showLook();
});

/** @type {Promise<{texts: string[], fonts: any[]}> | null} */
let files = null;

/** Load the files of frames, once. */
function loadFiles() {
  files ??= readFiles();
  files.catch(() => {
    files = null; // the next frame tries again
  });
  return files;
}

async function readFiles() {
  const [texts, fonts] = await Promise.all([
    Promise.all(TEXTS.map(async (path) => (await answer(path)).text())),
    Promise.all(FONTS.map(async ({ file, ...font }) =>
      ({ ...font, bytes: await (await answer(FOLDER + file)).arrayBuffer() }))),
  ]);
  return { texts, fonts };
}

async function answer(path) {
  const response = await fetch(addressOf(path));
  if (!response.ok) throw new Error(`${path}: HTTP ${response.status}`);
  return response;
}

// The page sends everything else, since a frame of its own origin cannot load the site's files.
const START = `<style>html { color-scheme: light dark }</style><script>addEventListener("message", ({ source, data }) => {
  if (source !== parent || data.type !== "start") return;
  for (const text of data.scripts) {
    const script = document.createElement("script");
    script.textContent = text;
    document.head.append(script);
  }
}, { once: true });</script>`;

/**
 * Return a box with the widget `id`. `area` gets what its handlers print. `onCopy(copy)` gets a copy
 * for exported pages, null if the widget cannot be shown; see copy-in-frame.js.
 * @param {import("./widget-models.js").WidgetModels} models
 * @param {((copy: any) => void) | null} onCopy
 */
export function widgetFrame(models, id, area, onCopy = null) {
  /** @type {HTMLIFrameElement | null} */
  let frame = null;
  /** @type {Map<number, {place: HTMLElement, sizes: ResizeObserver}>} Output widgets by view */
  const outputs = new Map();
  let hasMathLook = false;
  const note = element("p", { className: "inert-note", role: "status" });
  const box = connectedFrame(START, { title: "Widget", begin, receive, more: () =>
    [...outputs.values()].reduce((sum, { place }) => sum + place.offsetHeight, 0) });

  /** @type {Frame} */
  const side = {
    held: new Set(),
    post: (message) => {
      if (frame?.isConnected) {
        frame.contentWindow?.postMessage(message, "*");
        return true;
      }
      models.leave(side);
      shown.delete(showLook);
      return false;
    },
  };
  const showLook = () => side.post({ type: "look", ...lookOf(box) });

  /** The frame has loaded, for the first time or again after it was moved. */
  async function begin(loaded) {
    frame = loaded;
    models.begin(side);
    shown.add(showLook);
    for (const view of outputs.keys()) removeOutput(view);
    hasMathLook = false;
    try {
      const { texts: [script, library, copier, style], fonts } = await loadFiles();
      side.post({ type: "start", scripts: [script, library, ...(onCopy ? [copier] : [])] });
      side.post({ type: "begin", id, style, fonts, ...lookOf(box) });
      if (models.isDead) side.post({ type: "end" });
    } catch (error) {
      box.replaceChildren(element("p", { className: "inert-note" },
        `The scripts of widgets could not be loaded (${error.message}). Run the cell again.`));
      onCopy?.(null);
    }
  }

  /** Handle a message of the frame, whose scripts may be anyone's. */
  function receive(message) {
    if (message.type === "get") {
      side.post({ type: "model", id: message.id, model: models.give(message.id, side) });
    } else if (message.type === "module") {
      side.post({ type: "module", name: message.name, text: models.modules.get(message.name) ?? null });
    } else if (message.type === "math") void setMath(message.text);
    else if (message.type === "shown") void askForCopy();
    else if (message.type === "copied") onCopy?.(message.copy);
    else if (message.type === "send") {
      if (models.isSaved) tellThatSaved();
      void models.send(message, area).then(() =>
        side.post({ type: "idle", message: message.message }));
    } else if (message.type === "output") showOutput(message);
  }

  async function askForCopy() {
    if (onCopy) side.post({ type: "copy", fonts: (await loadFiles()).fonts });
  }

  /** Send the HTML of a text with formulas. Without KaTeX they stay LaTeX. */
  async function setMath(text) {
    const html = await mathHtml(text).catch(() => null);
    const look = html !== null && !hasMathLook ? await mathLook().catch(() => null) : null;
    hasMathLook ||= look !== null;
    side.post({ type: "math", text, html, look });
  }

  /** The user moves a widget of a file. */
  function tellThatSaved() {
    if (note.isConnected) return;
    note.append("This widget is as it was saved. Run its cell to use it.");
    box.after(note);
  }

  function showOutput({ view, id: widget, left, top, width, shown }) {
    if (!shown) {
      removeOutput(view);
      return;
    }
    const found = outputs.get(view) ?? addOutput(view, widget);
    Object.assign(found.place.style, { left: `${left}px`, top: `${top}px`, width: `${width}px` });
  }

  function addOutput(view, widget) {
    const place = element("div", { className: "widget-outputs" }, models.outputs.show(widget));
    const sizes = new ResizeObserver(() =>
      side.post({ type: "height", view, height: place.offsetHeight }));
    const made = { place, sizes };
    outputs.set(view, made);
    box.append(place);
    sizes.observe(place);
    return made;
  }

  function removeOutput(view) {
    outputs.get(view)?.sizes.disconnect();
    outputs.get(view)?.place.remove();
    outputs.delete(view);
  }

  return box;
}

/** The looks of a box of the page. */
function lookOf(box) {
  const style = getComputedStyle(box);
  return {
    scheme: style.colorScheme,
    values: Object.fromEntries(LOOKS.map((name) => [`--${name}`, style.getPropertyValue(`--${name}`)])),
  };
}
