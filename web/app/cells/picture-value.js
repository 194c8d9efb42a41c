/** The value of a drawn array under a cursor that rests (py/browsergpu/functions/images/drawn.py). */
import { element } from "../base/dom.js";

/** The cursor rests after this time. */
const REST_MS = 150;
/** Distance of the text from the cursor, in CSS pixels. */
const AWAY = 14;

/**
 * Show row, column and value beside a cursor that rests on `picture`, inside `box`. `ask(x, y)` gets
 * pixels of the canvas and resolves to the text, or to an empty one.
 */
export function showValues(picture, box, ask) {
  const { root: canvas } = picture;
  const text = element("output", { className: "picture-value", hidden: true });
  text.setAttribute("aria-live", "off");
  box.after(text);
  /** @type {number | undefined} */
  let timer;
  /** Counts movements, so that late answers are ignored. */
  let moment = 0;
  const hide = () => {
    moment++;
    clearTimeout(timer);
    text.hidden = true;
    removeEventListener("scroll", hide, true);
  };
  const look = async ({ clientX, clientY }) => {
    if (picture.drawing === null || picture.isHeld) return;
    const asked = moment;
    const { left, top, width, height } = canvas.getBoundingClientRect();
    const found = await ask(((clientX - left) * canvas.width) / width,
      ((clientY - top) * canvas.height) / height);
    if (asked !== moment || !found) return;
    // The page then moves below the cursor.
    addEventListener("scroll", hide, { capture: true, passive: true });
    text.textContent = found;
    text.hidden = false;
    const { width: wide, height: high } = text.getBoundingClientRect();
    text.style.left = `${Math.max(0, Math.min(clientX + AWAY, document.documentElement.clientWidth - wide))}px`;
    text.style.top = `${clientY + AWAY + high > innerHeight ? clientY - AWAY - high : clientY + AWAY}px`;
  };
  canvas.addEventListener("pointermove", (event) => {
    hide();
    if (event.pointerType === "mouse" && event.buttons === 0) timer = setTimeout(look, REST_MS, event);
  });
  for (const type of ["pointerleave", "pointerdown", "wheel"]) {
    canvas.addEventListener(type, hide, { passive: true });
  }
  picture.addEventListener("change", hide);
}
