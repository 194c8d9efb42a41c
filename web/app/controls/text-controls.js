/** Controls for text: fields, labels, markup. */
import { isHeld, labelled } from "./control-parts.js";
import { element } from "../base/dom.js";
import { htmlBox } from "../content/markdown.js";

function field(send, input) {
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

export function text(send) {
  const properties = { type: "text", className: "control-field", spellcheck: false };
  return field(send, element("input", properties));
}

export function textarea(send) {
  const input = element("textarea", { className: "control-field", spellcheck: false });
  const { element: box, show } = field(send, input);
  return {
    element: box,
    show: (state) => {
      show(state);
      input.rows = state.rows;
    },
  };
}

export function label() {
  const box = element("p", { className: "control" });
  return {
    element: box,
    show: ({ description, value }) => {
      box.textContent = [description, value].filter(Boolean).join(" ");
    },
  };
}

export function html() {
  const box = element("div");
  return { element: box, show: ({ value }) => box.replaceChildren(htmlBox(value)) };
}
