/**
 * The canvases that Python draws on. Each is created on first use, and each image is sent to the
 * page without returning to the event loop. So images of a busy loop are visible too.
 */
import { takeMail } from "./mailbox.js";

/** Minimum time between two images of a canvas. Faster ones would not be visible. */
const FRAME_MS = 15;

export class Pictures {
  #send;
  #placeOf;
  #mail;
  /**
   * @type {Map<string, OffscreenCanvas & {
   *   browsergpuPointer?: number | null, browsergpuPlot?: number | null,
   * }>}
   */
  #canvases = new Map();
  /** The time of each canvas's last image. */
  #sent = new Map();
  /** Images that came too soon after the previous one, by canvas. */
  #late = new Map();

  /**
   * `send` gets `{canvas, run, widget, picture, owner, plot}`. `placeOf()` returns the run of the running
   * code, and the Output widget that captures its outputs.
   * `mail` is the mailbox of pointer input, if the page is isolated.
   */
  constructor(send, placeOf, mail) {
    this.#send = send;
    this.#placeOf = placeOf;
    this.#mail = mail;
  }

  // The package uses this as the Map globalThis.browsergpuCanvases, with `owner` and `input`.

  /** Return the owner of the pictures that the running code draws (gpu/browser/pointer.py). */
  owner() {
    return this.#placeOf().run;
  }

  /** Return pointer input that arrived while the running code computes. */
  input() {
    return this.#mail ? takeMail(this.#mail) : "";
  }

  has(id) {
    return typeof id === "string" && id !== "";
  }

  get(id) {
    let canvas = this.#canvases.get(id);
    if (!canvas) {
      canvas = new OffscreenCanvas(1, 1);
      canvas.addEventListener("draw", () => this.#take(id));
      this.#canvases.set(id, canvas);
    }
    return canvas;
  }

  #take(id) {
    // Transferred now, since the device may be closed or the canvas redrawn before it is sent.
    const canvas = this.get(id);
    const picture = canvas.transferToImageBitmap();
    const owner = canvas.browsergpuPointer ?? null;
    const plot = canvas.browsergpuPlot ?? null;
    const drawn = { canvas: id, ...this.#placeOf(), picture, owner, plot };
    const late = this.#late.get(id);
    if (late && (late.run !== drawn.run || late.widget !== drawn.widget)) this.#post(late);
    else late?.picture.close();
    if (performance.now() - (this.#sent.get(id) ?? -FRAME_MS) >= FRAME_MS) {
      this.#post(drawn);
      return;
    }
    if (this.#late.size === 0) setTimeout(() => this.flush(), FRAME_MS);
    this.#late.set(id, drawn);
  }

  #post(drawn) {
    this.#late.delete(drawn.canvas);
    this.#sent.set(drawn.canvas, performance.now());
    this.#send(drawn);
  }

  /** Send delayed images. */
  flush() {
    for (const drawn of this.#late.values()) this.#post(drawn);
  }
}
