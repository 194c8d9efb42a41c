/** The field in a cell in which a person answers Python's `input()`. */
import { MAX_ANSWER } from "../../kernel/answers.js";
import { element } from "../base/dom.js";

/**
 * Show it after `place` and put the cursor there; `reply` gets the text. Returns a function that
 * takes it away unanswered.
 */
export function askAfter(place, { prompt, password, reply }) {
  const before = /** @type {HTMLElement | null} */ (document.activeElement);
  const field = element("input", {
    type: password ? "password" : "text", autocomplete: "off", spellcheck: false,
    maxLength: MAX_ANSWER,
  });
  const label = element("label", {}, element("span", {}, prompt || "Input"), field);
  const form = element("form", { className: "cell-input" }, label,
    element("button", { type: "submit" }, "Enter"));
  const remove = () => {
    if (form.contains(document.activeElement) && before?.isConnected) before.focus();
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
