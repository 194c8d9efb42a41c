/** What the controls that Python can show have in common. */
import { element } from "../base/dom.js";

/**
 * A control: an element, and a function that shows a state. `Send` tells Python of an event.
 * @typedef {{element: HTMLElement, show: (state: any) => void}} Control
 * @typedef {(event: object) => void} Send
 */

/** Digits enough for a step: 0.05 shows 1.25, 1 shows 3. */
export function rounded(value, step) {
  if (!step) return String(value);
  const digits = /^\d*\.?(\d*)(?:e-(\d+))?$/i.exec(String(step));
  return value.toFixed(Math.min(12, (digits?.[1].length ?? 0) + Number(digits?.[2] ?? 0)));
}

/** A label around a control; the input's own name where there is no description. */
export function labelled(input, ...more) {
  const text = element("span", { className: "control-label" });
  const box = element("label", { className: "control" }, text, input, ...more);
  return {
    box,
    show: ({ description, disabled }) => {
      text.textContent = description;
      text.hidden = !description;
      if (!description) input.setAttribute("aria-label", "Value");
      else input.removeAttribute("aria-label");
      input.disabled = disabled;
    },
  };
}

/** Several inputs of one name, as the ARIA role `role`; they stand in `inside`. */
export function grouped(role, inside, ...more) {
  const text = element("span", { className: "control-label" });
  const box = element("div", { className: "control" }, text, inside, ...more);
  box.setAttribute("role", role);
  return {
    box,
    show: ({ description, disabled }) => {
      text.textContent = description;
      text.hidden = !description;
      box.setAttribute("aria-label", description || "Value");
      for (const input of inside.querySelectorAll("input, button")) input.disabled = disabled;
    },
  };
}

/** What the person is about to change is not overwritten by what Python last knew. */
export const isHeld = (input) => input.matches(":active, :focus") && !input.disabled;
