/** The field in a cell for the answer to Python's `input()`. */
import { MAX_ANSWER } from "../../kernel/answers.js";
import { element } from "../base/dom.js";

/**
 * Show the field after `place` with the cursor in it. `reply` receives the text. Returns a function
 * that removes the field without an answer.
 */
export function askAfter(place, { prompt, password, reply }) {
  const root = /** @type {Document | ShadowRoot} */ (place.getRootNode());
  const before = /** @type {HTMLElement | null} */ (root.activeElement);
  const field = element("input", {
    type: password ? "password" : "text", autocomplete: "off", spellcheck: false,
    maxLength: MAX_ANSWER,
  });
  const label = element("label", {}, element("span", {}, prompt || "Input"), field);
  const form = element("form", { className: "cell-input" }, label,
    element("button", { type: "submit" }, "Enter"));
  const remove = () => {
    if (form.contains(root.activeElement) && before?.isConnected) before.focus();
    form.remove();
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const { value } = field;
    remove();
    reply(value);
  });
  place.after(form);
  field.focus();
  form.scrollIntoView({ block: "nearest" });
  return remove;
}
