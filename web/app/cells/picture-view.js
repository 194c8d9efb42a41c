/**
 * A drawing or plot in a cell's output: zoom, pan, a pause of an animation, and its recording. A
 * drawing is scaled. Python draws a plot anew from its samples.
 */
import { element } from "../base/dom.js";
import { download } from "../base/downloads.js";
import { showValues } from "./picture-value.js";
import { isForZoom, usePointerInput } from "./pointer-input.js";

const MOST_ZOOM = 40;
/** Factor of one key press or one notch of a wheel. */
const STEP = 1.25;
/** Pixels that an arrow key pans. */
const PAN = 40;
const VIDEO = "video/webm";

function button(label, title, act) {
  const made = element("button", { type: "button", title, hidden: true }, label);
  made.addEventListener("click", act);
  return made;
}

/** The part of a picture that is shown: scaled, and moved by pixels of the page. */
class Zoom {
  #box;
  #canvas;
  #tell;
  #scale = 1;
  #x = 0;
  #y = 0;

  /** `tell(scale)` is called after each change. */
  constructor(box, canvas, tell) {
    this.#box = box;
    this.#canvas = canvas;
    this.#tell = tell;
  }

  get isZoomed() {
    return this.#scale > 1;
  }

  get canPan() {
    return this.isZoomed;
  }

  /** Scale by a factor. The point of the page at (x, y) stays where it is, by default the middle. */
  by(factor, { x, y } = this.#middle) {
    const { left, top } = this.#box.getBoundingClientRect();
    const scale = Math.min(MOST_ZOOM, Math.max(1, this.#scale * factor));
    const change = scale / this.#scale;
    this.#scale = scale;
    this.#place((x - left) * (1 - change) + this.#x * change, (y - top) * (1 - change) + this.#y * change);
  }

  move(x, y) {
    this.#place(this.#x + x, this.#y + y);
  }

  reset() {
    this.#scale = 1;
    this.#place(0, 0);
  }

  get #middle() {
    const { left, top, width, height } = this.#box.getBoundingClientRect();
    return { x: left + width / 2, y: top + height / 2 };
  }

  #place(x, y) {
    const { clientWidth: width, clientHeight: height } = this.#box;
    const { style, classList } = this.#canvas;
    // The picture covers its whole box.
    this.#x = Math.min(0, Math.max(width * (1 - this.#scale), x));
    this.#y = Math.min(0, Math.max(height * (1 - this.#scale), y));
    style.transform = this.isZoomed ? `translate(${this.#x}px, ${this.#y}px) scale(${this.#scale})` : "";
    classList.toggle("zoomed", this.isZoomed);
    this.#tell(this.#scale);
  }
}

/** The part of a plot that is shown, which Python knows (functions/images/plot_view.py). */
class PlotZoom {
  #canvas;
  #send;
  #tell;
  canPan = true;

  /** `send(row)` passes input to Python. `tell(scale)` is called as a Zoom does. */
  constructor(canvas, send, tell) {
    this.#canvas = canvas;
    this.#send = send;
    this.#tell = tell;
  }

  /** Pixels of the canvas for a CSS pixel. */
  get #dense() {
    return this.#canvas.width / this.#canvas.getBoundingClientRect().width;
  }

  by(factor, at = null) {
    const { left, top, width, height } = this.#canvas.getBoundingClientRect();
    const { x, y } = at ?? { x: left + width / 2, y: top + height / 2 };
    this.#change(["zoom", (x - left) * this.#dense, (y - top) * this.#dense, factor]);
  }

  move(x, y) {
    this.#change(["pan", x * this.#dense, y * this.#dense]);
  }

  reset() {
    this.#send(["all"]);
    this.#tell(1);
  }

  #change(row) {
    this.#send(row);
    this.#tell(null);
  }
}

/**
 * Zoom by Ctrl and wheel, or by the wheel once the picture has the focus; pan by drags. If Python
 * gets the pointer, the wheel and drags need Ctrl, or the middle button.
 */
function usePointer(box, zoomOf, picture) {
  box.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && picture.owner !== null) return;
    if (!event.ctrlKey && document.activeElement !== box && box.getRootNode().activeElement !== box) return;
    event.preventDefault();
    zoomOf().by(STEP ** (event.deltaY < 0 ? 1 : -1), { x: event.clientX, y: event.clientY });
  }, { passive: false });
  box.addEventListener("dblclick", () => {
    if (picture.owner === null) zoomOf().reset();
  });
  box.addEventListener("pointerdown", (event) => {
    if (event.button > 1 || !zoomOf().canPan) return;
    if (picture.owner !== null && !isForZoom(event)) return;
    event.preventDefault(); // the middle button would scroll the page
    box.focus({ preventScroll: true });
    box.setPointerCapture(event.pointerId);
    let { clientX: x, clientY: y } = event;
    const follow = (moved) => {
      zoomOf().move(moved.clientX - x, moved.clientY - y);
      x = moved.clientX;
      y = moved.clientY;
    };
    box.addEventListener("pointermove", follow);
    box.addEventListener("lostpointercapture", () => box.removeEventListener("pointermove", follow), { once: true });
  });
}

function useKeys(box, zoomOf) {
  box.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const zoom = zoomOf();
    const pans = zoom.canPan ? {
      ArrowLeft: () => zoom.move(PAN, 0), ArrowRight: () => zoom.move(-PAN, 0),
      ArrowUp: () => zoom.move(0, PAN), ArrowDown: () => zoom.move(0, -PAN),
    } : {};
    const act = { "+": () => zoom.by(STEP), "=": () => zoom.by(STEP), "-": () => zoom.by(1 / STEP),
      0: () => zoom.reset(), ...pans }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
}

/** Return a function that begins to record a canvas. It returns one that ends it and downloads. */
function recorderOf(canvas, name) {
  return () => {
    const recorder = new MediaRecorder(canvas.captureStream(), { mimeType: VIDEO });
    const parts = [];
    recorder.ondataavailable = ({ data }) => parts.push(data);
    recorder.onstop = () => download(`${name}.webm`, new Blob(parts), VIDEO);
    recorder.start();
    return () => recorder.stop();
  };
}

/**
 * Return a box with a Picture and its controls. Those of animations appear with the second image.
 * `send(row)` passes pointer input on, `ask(x, y)` returns the text for a position (picture-value.js).
 */
export function pictureView(picture, send, ask) {
  const { root: canvas } = picture;
  const box = element("div", { className: "picture-box", tabIndex: 0 }, canvas);
  box.role = "group";
  box.ariaLabel = "Picture: plus and minus zoom, the arrows pan, 0 shows all of it";
  const record = recorderOf(canvas, picture.name);
  /** @type {(() => void) | null} */
  let stop = null;
  const all = button("Show all", "Show the whole picture (0)", () => {
    zoomOf().reset();
    box.focus();
  });
  const pause = button("Pause", "Hold this image; Python goes on", () => {
    picture.hold(!picture.isHeld);
    pause.textContent = picture.isHeld ? "Play" : "Pause";
  });
  const film = button("Record", "Record the animation as a WebM video", () => {
    if (stop) stop();
    stop = stop ? null : record();
    film.textContent = stop ? "Stop and download" : "Record";
  });
  const tell = (scale) => {
    all.hidden = scale === 1;
  };
  const scaled = new Zoom(box, canvas, tell);
  const drawnAnew = new PlotZoom(canvas, send, tell);
  const zoomOf = () => (picture.plot === null ? scaled : drawnAnew);
  usePointer(box, zoomOf, picture);
  usePointerInput(picture, send);
  useKeys(box, zoomOf);
  picture.addEventListener("change", () => {
    if (picture.plot !== null && scaled.isZoomed) scaled.reset();
    pause.hidden = false;
    film.hidden = !globalThis.MediaRecorder?.isTypeSupported(VIDEO);
  });
  const view = element("div", { className: "picture-view" }, box,
    element("div", { className: "picture-tools" }, all, pause, film));
  showValues(picture, box, ask);
  return view;
}
