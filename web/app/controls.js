/** The controls that Python can show: each is an element and a function that shows a state. */
import { element } from "./dom.js";
import { htmlBox } from "./markdown.js";

/**
 * @typedef {{element: HTMLElement, show: (state: any) => void}} Control
 * @typedef {(event: object) => void} Send
 */

/** Digits enough for a step: 0.05 shows 1.25, 1 shows 3. */
function rounded(value, step) {
  if (!step) return String(value);
  const digits = /^\d*\.?(\d*)(?:e-(\d+))?$/i.exec(String(step));
  return value.toFixed(Math.min(12, (digits?.[1].length ?? 0) + Number(digits?.[2] ?? 0)));
}

/** A label around a control; the input's own name where there is no description. */
function labelled(input, ...more) {
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

/** What the person is about to change is not overwritten by what Python last knew. */
const isHeld = (input) => input.matches(":active, :focus") && !input.disabled;

/** @param {Send} send @returns {Control} */
function slider(send) {
  const input = element("input", { type: "range" });
  const readout = element("output", { className: "control-value" });
  const { box, show } = labelled(input, readout);
  let step;
  let live = true;
  const tell = () => send({ value: Number(input.value) });
  input.addEventListener("input", () => {
    readout.textContent = rounded(Number(input.value), step);
    if (live) tell();
  });
  input.addEventListener("change", () => live || tell());
  return {
    element: box,
    show: (state) => {
      show(state);
      ({ step, continuous_update: live } = state);
      Object.assign(input, { min: state.min, max: state.max, step: step || "any" });
      input.value = state.value;
      readout.textContent = rounded(state.value, step);
      readout.hidden = !state.readout;
    },
  };
}

function number(send) {
  const input = element("input", { type: "number", className: "control-field" });
  const { box, show } = labelled(input);
  const tell = () => input.value !== "" && send({ value: Number(input.value) });
  let live = false;
  input.addEventListener("input", () => live && input.checkValidity() && tell());
  input.addEventListener("change", tell);
  return {
    element: box,
    show: (state) => {
      show(state);
      live = state.continuous_update;
      const { min = "", max = "", step, whole } = state;
      Object.assign(input, { min, max, step: step || (whole ? 1 : "any") });
      if (!isHeld(input)) input.value = state.value;
    },
  };
}

function text(send) {
  const input = element("input", { type: "text", className: "control-field", spellcheck: false });
  const { box, show } = labelled(input);
  let live = true;
  const tell = () => send({ value: input.value });
  input.addEventListener("input", () => live && tell());
  input.addEventListener("change", () => live || tell());
  return {
    element: box,
    show: (state) => {
      show(state);
      live = state.continuous_update;
      if (!isHeld(input)) input.value = state.value;
    },
  };
}

function checkbox(send) {
  const input = element("input", { type: "checkbox" });
  const { box, show } = labelled(input);
  input.addEventListener("change", () => send({ value: input.checked }));
  return {
    element: box,
    show: (state) => {
      show(state);
      input.checked = state.value;
    },
  };
}

function dropdown(send) {
  const select = element("select", { className: "control-field" });
  const { box, show } = labelled(select);
  select.addEventListener("change", () => send({ value: select.selectedIndex }));
  return {
    element: box,
    show: (state) => {
      show(state);
      select.replaceChildren(...state.options.map((label) => element("option", {}, label)));
      select.selectedIndex = state.value ?? -1;
    },
  };
}

function button(send) {
  const made = element("button", { type: "button" });
  made.addEventListener("click", () => send({ clicks: 1 }));
  return {
    element: made,
    show: ({ description, disabled }) => {
      made.textContent = description || "Click";
      made.disabled = disabled;
    },
  };
}

function progress() {
  const bar = element("progress");
  const { box, show } = labelled(bar);
  return {
    element: box,
    show: (state) => {
      show(state);
      bar.max = state.max - state.min || 1;
      bar.value = state.value - state.min;
    },
  };
}

function label() {
  const box = element("p", { className: "control" });
  return {
    element: box,
    show: ({ description, value }) => {
      box.textContent = [description, value].filter(Boolean).join(" ");
    },
  };
}

function html() {
  const box = element("div");
  return { element: box, show: ({ value }) => box.replaceChildren(htmlBox(value)) };
}

/** @type {Record<string, (send: Send) => Control>} */
export const CONTROLS = {
  slider, number, text, checkbox, dropdown, button, progress, label, html,
};

/** The setting of a control as a line of text, or nothing. */
export function asText({ kind, state }) {
  const { description, value, options } = state;
  if (kind === "button" || value === undefined) return "";
  const shown = kind === "dropdown" ? options[value] ?? "" : String(value);
  return description ? `${description} = ${shown}` : shown;
}
