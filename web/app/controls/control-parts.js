/** Parts shared by the controls that Python can show. */
import { element } from "../base/dom.js";

/**
 * A control: an element, and a function that shows a state. `Send` tells Python of an event.
 * @typedef {{element: HTMLElement, show: (state: any) => void}} Control
 * @typedef {(event: object) => void} Send
 */

/** Round to the digits of a step: 0.05 gives 1.25, 1 gives 3. */
export function rounded(value, step) {
  if (!step) return String(value);
  const digits = /^\d*\.?(\d*)(?:e-(\d+))?$/i.exec(String(step));
  return value.toFixed(Math.min(12, (digits?.[1].length ?? 0) + Number(digits?.[2] ?? 0)));
}

/** Wrap a control in a label, or name the input if there is no description. */
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

/** Group inputs with one name and the ARIA role `role`. They are inside `inside`. */
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

/** Whether the user is changing the input, so that Python's last value must not overwrite it. */
export const isHeld = (input) => input.matches(":active, :focus") && !input.disabled;
