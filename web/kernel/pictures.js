/**
 * The canvases that Python draws on: each is made when it is first asked for, and each picture that
 * was drawn is sent to the page. That needs no turn of the event loop: pictures of a loop that never
 * lets go are seen, too.
 */

/** Between two pictures of a canvas: what comes sooner would not be seen. */
const FRAME_MS = 15;

export class Pictures {
  #send;
  #runOf;
  /** @type {Map<string, OffscreenCanvas>} */
  #canvases = new Map();
  /** When a canvas's picture was sent last. */
  #sent = new Map();
  /** Pictures that came too soon after the one before, by their canvas. */
  #late = new Map();

  /** `send` gets `{canvas, run, picture}`; `runOf()` is the run that the running code belongs to. */
  constructor(send, runOf) {
    this.#send = send;
    this.#runOf = runOf;
  }

  // `has` and `get`: the package takes this for the Map globalThis.browsergpuCanvases.

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
    // At once: the device may be closed, or the canvas drawn on, by the time that it is sent.
    const picture = this.get(id).transferToImageBitmap();
    const drawn = { canvas: id, run: this.#runOf(), picture };
    const late = this.#late.get(id);
    if (late && late.run !== drawn.run) this.#post(late);
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

  /** Send what is held back. */
  flush() {
    for (const drawn of this.#late.values()) this.#post(drawn);
  }
}
