/**
 * Pointer input on pictures, passed to Python (py/browsergpu/functions/images/pointer.py), and zoom
 * and pan of plots (plot_view.py beside it). While the cell of a picture runs, its input lies in the
 * mailbox until Python draws. Otherwise it waits until the kernel is idle, and is a run of its own.
 */
import { leaveMail, takeMail } from "../../kernel/mailbox.js";

/** No more rows than these wait for Python. Beyond, the oldest moves are dropped, with a note. */
const MOST_ROWS = 1000;
const MODULE = "browsergpu.functions.images.pointer";

/**
 * Where a picture is shown: its outputs and errors go there.
 * @typedef {{receive: (message: any) => void, error: (ending: any) => void}} Place
 */

/** The number by which Python knows whose input it is. */
const ownerOf = ({ owner, plot }) => owner ?? plot;

class PointerInput {
  #kernel;
  /** @type {Map<import("../base/picture.js").Picture, {rows: any[], place: Place, dropped: number}>} */
  #waiting = new Map();
  #isScheduled = false;
  #isRunning = false;

  constructor(kernel) {
    this.#kernel = kernel;
    kernel.addEventListener("state", ({ detail: { state } }) => {
      if (state === "loading" || state === "dead") this.#waiting.clear();
      else if (state === "idle") {
        this.#takeBack();
        this.#schedule();
      }
    });
  }

  /** Send a row of input; see gpu/browser/pointer.py and plot_view.py. */
  send(picture, row, place) {
    const before = this.#waiting.get(picture) ?? { rows: [], place, dropped: 0 };
    const found = { ...before, rows: [...before.rows, row] };
    this.#waiting.set(picture, found);
    this.#limit(found);
    this.#schedule();
  }

  #limit(found) {
    while (found.rows.length > MOST_ROWS) {
      // Strokes keep their beginning and their end.
      found.rows.splice(Math.max(0, found.rows.findIndex(([type]) => type === "move")), 1);
      found.dropped++;
    }
  }

  /** Say at the picture how much of its input Python does not get. */
  #tellDropped({ place, dropped }) {
    if (dropped === 0) return;
    const many = dropped === 1 ? "1 position" : `${dropped.toLocaleString("en")} positions`;
    place.receive({ type: "stream", name: "stderr",
      text: `The pointer moved over ${many} more than wait for a busy kernel. They were dropped.\n` });
  }

  #schedule() {
    if (this.#isScheduled || this.#waiting.size === 0) return;
    this.#isScheduled = true;
    requestAnimationFrame(() => {
      this.#isScheduled = false;
      this.#flush();
    });
  }

  #flush() {
    const { mail, runningId } = this.#kernel;
    for (const [picture, found] of this.#waiting) {
      const { rows, place } = found;
      const owner = ownerOf(picture);
      if (owner === null) this.#waiting.delete(picture);
      else if (owner === runningId) {
        if (mail && leaveMail(mail, JSON.stringify([[picture.name, owner, rows]]))) {
          this.#left.set(owner, { picture, place });
          this.#waiting.delete(picture);
          this.#tellDropped(found);
        } else if (mail) this.#schedule();
      } else if (!this.#kernel.busyOrQueued && !this.#isRunning) {
        this.#waiting.delete(picture);
        this.#tellDropped(found);
        void this.#run(picture, rows, place);
      }
    }
  }

  /** Where the mail of a run is from. */
  #left = new Map();

  /** Take back the input that the ended run did not read. */
  #takeBack() {
    const text = this.#kernel.mail ? takeMail(this.#kernel.mail) : "";
    for (const [name, owner, rows] of text ? JSON.parse(text) : []) {
      const found = this.#left.get(owner);
      if (!found || found.picture.name !== name) continue;
      const later = this.#waiting.get(found.picture) ?? { rows: [], dropped: 0 };
      const joined = { ...later, rows: [...rows, ...later.rows], place: found.place };
      this.#limit(joined);
      this.#waiting.set(found.picture, joined);
    }
    this.#left.clear();
  }

  async #run(picture, rows, place) {
    this.#isRunning = true;
    const input = JSON.stringify(JSON.stringify([[picture.name, ownerOf(picture), rows]]));
    try {
      const ending = await this.#kernel.run({
        name: () => "the pointer",
        code: `__import__("${MODULE}", fromlist=["receive"]).receive(${input})`,
        listener: (message) => place.receive(message),
      });
      if (!ending.ok) place.error(ending);
    } catch {
      // The kernel stopped, which its state reports.
    } finally {
      this.#isRunning = false;
      this.#schedule();
    }
  }
}

/** @type {WeakMap<object, PointerInput>} */
const inputs = new WeakMap();

/** Return the pointer input of a kernel (a KernelClient). */
export function pointerInput(kernel) {
  const found = inputs.get(kernel) ?? new PointerInput(kernel);
  inputs.set(kernel, found);
  return found;
}

/** Whether the pointer's event belongs to the picture itself: zoom and pan. */
export const isForZoom = (event) => event.ctrlKey || event.metaKey || event.button === 1;

/** Call `send(row)` for the pointer on the canvas of `picture` while the picture has an owner. */
export function usePointerInput(picture, send) {
  const { root: canvas } = picture;
  /** @type {{id: number, button: string} | null} */
  let pressed = null;
  const add = (type, event) => {
    // The box of a zoomed picture is that of the whole picture.
    const { left, top, width, height } = canvas.getBoundingClientRect();
    const modifiers = ["shift", "alt"].filter((name) => event[`${name}Key`]);
    send([type, ((event.clientX - left) * canvas.width) / width,
      ((event.clientY - top) * canvas.height) / height, pressed?.button, modifiers,
      event.pointerType]);
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (picture.owner === null || pressed || isForZoom(event)) return;
    if (![0, 2].includes(event.button)) return;
    pressed = { id: event.pointerId, button: event.button === 2 ? "right" : "left" };
    canvas.setPointerCapture(event.pointerId);
    add("down", event);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (event.pointerId !== pressed?.id) return;
    const moves = event.getCoalescedEvents?.() ?? [];
    for (const move of moves.length > 0 ? moves : [event]) add("move", move);
  });
  canvas.addEventListener("lostpointercapture", (event) => {
    if (event.pointerId !== pressed?.id) return;
    add("up", event);
    pressed = null;
  });
  canvas.addEventListener("contextmenu", (event) => {
    if (picture.owner !== null && !event.ctrlKey) event.preventDefault();
  });
}
