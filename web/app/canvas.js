/** The canvas that Python draws on. */

export const CANVAS_ID = "gpu-canvas";

/**
 * A function that puts a fresh canvas into `frame` and returns it. A canvas can be handed to a
 * worker once, so each kernel gets its own.
 */
export function canvasMaker(frame) {
  return () => {
    const canvas = document.createElement("canvas");
    canvas.id = CANVAS_ID;
    canvas.width = 512;
    canvas.height = 341;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", "Canvas that Python draws on");
    frame.querySelector("canvas")?.remove();
    frame.append(canvas);
    return canvas;
  };
}
