/** Controls that are pressed, or that choose one of several options. */
import { grouped, labelled } from "./control-parts.js";
import { element } from "../base/dom.js";

export function checkbox(send) {
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

export function dropdown(send) {
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

/** Inputs for options: `make(label, index)` creates one, `mark(input, chosen)` shows the choice. */
function oneOf(role, make, mark) {
  const inside = element("div", { className: "control-options" });
  const { box, show } = grouped(role, inside);
  let known = "";
  return {
    element: box,
    show: (state) => {
      // Options that did not change keep their elements and the focus.
      const told = JSON.stringify(state.options);
      if (told !== known) inside.replaceChildren(...state.options.map(make));
      known = told;
      show(state);
      inside.querySelectorAll("input, button")
        .forEach((input, index) => mark(input, index === state.value));
    },
  };
}

let groups = 0;

export function radio(send) {
  groups += 1;
  const name = `choice-${groups}`;
  const make = (label, index) => {
    const input = element("input", { type: "radio", name });
    input.addEventListener("change", () => send({ value: index }));
    return element("label", {}, input, label);
  };
  return oneOf("radiogroup", make, (input, chosen) => { input.checked = chosen; });
}

const press = (made, pressed) => made.setAttribute("aria-pressed", String(pressed));

export function toggles(send) {
  const make = (label, index) => {
    const made = element("button", { type: "button" }, label);
    made.addEventListener("click", () => send({ value: index }));
    return made;
  };
  return oneOf("group", make, press);
}

export function toggle(send) {
  const made = element("button", { type: "button", className: "control-toggle" });
  made.addEventListener("click", () => send({ value: made.ariaPressed !== "true" }));
  return {
    element: made,
    show: ({ description, disabled, value }) => {
      made.textContent = description || "On";
      made.disabled = disabled;
      press(made, value);
    },
  };
}

export function button(send) {
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
