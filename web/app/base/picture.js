/** An image that Python draws: updated on the page, and saved as PNG in the notebook. */
import { element } from "./dom.js";

/** The default canvas of `draw`. */
export const CANVAS_ID = "gpu-canvas";

/** Smaller images are enlarged without smoothing: CSS pixels. */
const LEAST_WIDTH = 256;
/** No image is enlarged beyond this height. */
const MOST_HEIGHT = 1024;
const PNG = "image/png";

/** Show an image of `width` pixels at that size, or at the larger size it was saved with. */
export function setShownWidth(shown, width, wanted = width) {
  if (wanted <= width) return;
  shown.style.width = `${wanted}px`;
  shown.classList.add("enlarged");
}

/** Return the width at which an image is shown, unless the page is narrower. */
const shownWidth = ({ width, height }) =>
  Math.max(width, Math.min(LEAST_WIDTH, Math.floor((width * MOST_HEIGHT) / height)));

/** Has a "change" event when another image replaces the first one. */
export class Picture extends EventTarget {
  /** @type {HTMLCanvasElement} */
  root;
  #context;
  #url = "";
  #isEmpty = true;
  /** Whether newer images wait. */
  isHeld = false;
  /**
   * The number by which Python knows the picture, if it wants pointer input.
   * @type {number | null}
   */
  owner = null;
  /**
   * The number by which Python knows the drawn array, even without pointer input.
   * @type {number | null}
   */
  drawing = null;
  /**
   * The number by which Python knows the plot, which it draws anew for zoom and pan.
   * @type {number | null}
   */
  plot = null;
  /** @type {ImageBitmap | null} the newest image that waits */
  #next = null;

  /** `name` is the canvas's name in the code. */
  constructor(name) {
    super();
    this.name = name;
    this.root = element("canvas", { className: "picture" });
    this.root.setAttribute("role", "img");
    this.#label();
    this.#context = /** @type {ImageBitmapRenderingContext} */ (
      this.root.getContext("bitmaprenderer"));
  }

  /**
   * Show an ImageBitmap and consume it. Input by the pointer is for `owner`, and zoom and pan for
   * `plot`. `isZoom` tells that it shows another part of the image before.
   * @param {ImageBitmap} bitmap
   * @param {number | null} owner
   * @param {number | null} plot
   */
  show(bitmap, owner = null, plot = null, isZoom = false) {
    this.owner = owner;
    this.plot = plot;
    this.root.classList.toggle("plot", plot !== null);
    this.root.classList.toggle("takes-pointer", owner !== null);
    if (this.isHeld) {
      this.#next?.close();
      this.#next = bitmap;
      return;
    }
    const { width, height } = bitmap;
    if (this.root.width !== width || this.root.height !== height) {
      Object.assign(this.root, { width, height });
      this.root.classList.remove("enlarged");
      this.root.style.width = "";
      setShownWidth(this.root, width, shownWidth(bitmap));
    }
    this.#context.transferFromImageBitmap(bitmap);
    this.#url = "";
    this.#label();
    if (!this.#isEmpty && !isZoom) this.dispatchEvent(new Event("change"));
    this.#isEmpty = false;
  }

  /** Show the image without Python's help from now on. */
  release() {
    this.owner = this.drawing = this.plot = null;
    this.root.classList.remove("takes-pointer", "plot");
  }

  /** Hold the image that is shown, or show the newest one again. */
  hold(isHeld) {
    this.isHeld = isHeld;
    if (isHeld || !this.#next) return;
    this.show(this.#next, this.owner, this.plot);
    this.#next = null;
  }

  /** The picture in a line of text. */
  get text() {
    return `<picture of ${this.root.width} × ${this.root.height} on ${this.name}>`;
  }

  #label() {
    this.root.setAttribute("aria-label", this.text.slice(1, -1));
  }

  /** The output in nbformat's form. */
  get output() {
    // Encoded only on demand, since an animation changes it many times between two saves.
    this.#url ||= this.root.toDataURL(PNG);
    const width = shownWidth(this.root);
    return {
      output_type: "display_data",
      data: { [PNG]: this.#url.slice(this.#url.indexOf(",") + 1), "text/plain": this.text },
      metadata: width > this.root.width ? { [PNG]: { width } } : {},
    };
  }
}

/**
 * An image in `frame` for drawings outside of cells. Returns the handler of kernel messages.
 * `onCreate(picture)` is called once.
 */
export function pictureIn(frame, onCreate, onFirst = () => {}) {
  const picture = new Picture(CANVAS_ID);
  picture.root.id = CANVAS_ID;
  frame.append(picture.root);
  onCreate(picture);
  return ({ picture: bitmap, owner }) => {
    onFirst();
    picture.show(bitmap, owner);
  };
}
