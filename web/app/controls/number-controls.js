/** Controls for numbers: sliders, fields, bars and players. */
import { grouped, isHeld, labelled, rounded } from "./control-parts.js";
import { element } from "../base/dom.js";

const rangeInput = () => element("input", { type: "range" });
const readoutBox = () => element("output", { className: "control-value" });

/** Return the value of a slider's position: the position itself, or a power. */
export const told = (value, { base, step }) =>
  (base ? String(Number((base ** value).toPrecision(3))) : rounded(value, step));

export function slider(send) {
  const input = rangeInput();
  const readout = readoutBox();
  const { box, show } = labelled(input, readout);
  let now;
  const tell = () => send({ value: Number(input.value) });
  input.addEventListener("input", () => {
    readout.textContent = told(Number(input.value), now);
    if (now.continuous_update) tell();
  });
  input.addEventListener("change", () => now.continuous_update || tell());
  return {
    element: box,
    show: (state) => {
      show(state);
      now = state;
      Object.assign(input, { min: state.min, max: state.max, step: state.step || "any" });
      input.value = state.value;
      if (state.base) input.setAttribute("aria-valuetext", told(state.value, state));
      readout.textContent = told(state.value, state);
      readout.hidden = !state.readout;
    },
  };
}

export function range(send) {
  const ends = [rangeInput(), rangeInput()];
  const readout = readoutBox();
  const inside = element("div", { className: "control-ends" }, ...ends);
  const { box, show } = grouped("group", inside, readout);
  let now;
  const values = () => ends.map(({ value }) => Number(value));
  const say = () => {
    readout.textContent = values().map((value) => rounded(value, now.step)).join(" – ");
  };
  ends.forEach((input, index) => {
    input.addEventListener("input", () => {
      // The ends cannot pass each other.
      const [low, high] = values();
      if (low > high) input.value = ends[1 - index].value;
      say();
      if (now.continuous_update) send({ value: values() });
    });
    input.addEventListener("change", () => now.continuous_update || send({ value: values() }));
  });
  return {
    element: box,
    show: (state) => {
      show(state);
      now = state;
      ends.forEach((input, index) => {
        const { min, max, step, description } = state;
        Object.assign(input, { min, max, step: step || "any" });
        input.value = state.value[index];
        input.setAttribute("aria-label", `${description || "Value"} ${["from", "to"][index]}`);
      });
      say();
      readout.hidden = !state.readout;
    },
  };
}

export function number(send) {
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

export function play(send) {
  const start = element("button", { type: "button" });
  const back = element("button", { type: "button" }, "To the start");
  const readout = readoutBox();
  const buttons = element("div", { className: "control-options" }, start, back);
  const { box, show } = grouped("group", buttons, readout);
  let now;
  let timer;
  const run = (goes) => {
    clearInterval(timer);
    timer = goes ? setInterval(step, now.interval) : undefined;
    start.textContent = goes ? "Pause" : "Play";
  };
  // Each step continues from Python's last value, so that a slow Python skips none.
  function step() {
    const next = now.value + now.step;
    const isOver = next > now.max;
    if (!box.isConnected || now.disabled || (isOver && !now.repeat)) run(false);
    else send({ value: isOver ? now.min : next });
  }
  start.addEventListener("click", () => run(timer === undefined));
  back.addEventListener("click", () => {
    run(false);
    send({ value: now.min });
  });
  return {
    element: box,
    show: (state) => {
      show(state);
      now = state;
      if (!start.textContent) run(false);
      readout.textContent = String(state.value);
    },
  };
}

export function progress() {
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
