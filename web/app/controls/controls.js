/** The controls that Python can show, by kind, and their text in files. */
import { button, checkbox, dropdown, radio, toggle, toggles } from "./choice-controls.js";
import { number, play, progress, range, slider, told } from "./number-controls.js";
import { html, label, text, textarea } from "./text-controls.js";

/** @typedef {import("./control-parts.js").Control} Control */
/** @type {Record<string, (send: import("./control-parts.js").Send) => Control>} */
export const CONTROLS = {
  button, checkbox, dropdown, html, label, number, play, progress, radio, range, slider, text,
  textarea, toggle, toggles,
};

/** Return the value of a control as a line of text, or nothing. */
export function asText({ kind, state }) {
  const { description, value } = state;
  if (kind === "button" || value === undefined) return "";
  const shown = setting(state);
  return description ? `${description} = ${shown}` : shown;
}

function setting(state) {
  const { value, options, base } = state;
  if (options) return options[value] ?? "";
  if (base) return told(value, state);
  return Array.isArray(value) ? value.join(" – ") : String(value);
}
