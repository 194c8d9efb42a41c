/** Boxes of controls: rows, columns, tabs and accordions. */
import { element } from "../base/dom.js";

/**
 * `fill` takes the views of the box's children, and `show` takes a state.
 * @typedef {{
 *   element: HTMLElement, fill: (views: HTMLElement[]) => void, show: (state: any) => void,
 * }} Box
 */

/** @returns {() => Box} */
const plain = (kind) => () => {
  const box = element("div", { className: `controls ${kind}` });
  return { element: box, fill: (views) => box.replaceChildren(...views), show: () => {} };
};

let tabs = 0;

/** @returns {Box} */
function tab(send) {
  const list = element("div", { className: "control-tabs" });
  list.setAttribute("role", "tablist");
  const panels = element("div");
  const box = element("div", { className: "controls titled" }, list, panels);
  const buttons = () => /** @type {HTMLElement[]} */ ([...list.children]);
  list.addEventListener("keydown", (event) => {
    const all = buttons();
    const from = all.indexOf(event.target);
    const to = {
      ArrowLeft: (from + all.length - 1) % all.length, ArrowRight: (from + 1) % all.length,
      Home: 0, End: all.length - 1,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    all[to].focus();
    choose(to);
  });
  /** @type {{titles: string[], selected: number | null}} */
  let now = { titles: [], selected: null };
  const show = ({ titles, selected }) => {
    now = { titles, selected };
    buttons().forEach((button, index) => {
      const isSelected = index === selected;
      button.textContent = titles[index] || String(index + 1);
      button.setAttribute("aria-selected", String(isSelected));
      // One stop for the Tab key; arrow keys move between tabs.
      button.tabIndex = index === (selected ?? 0) ? 0 : -1;
      /** @type {HTMLElement} */ (panels.children[index]).hidden = !isSelected;
    });
  };
  const choose = (index) => {
    show({ ...now, selected: index }); // also while Python is busy
    send({ selected: index });
  };
  const panelOf = (view, index) => {
    tabs += 1;
    const panel = element("div", { className: "controls", id: `tab-panel-${tabs}` }, view);
    const button = element("button", { type: "button", id: `tab-${tabs}` });
    button.setAttribute("role", "tab");
    button.setAttribute("aria-controls", panel.id);
    button.addEventListener("click", () => choose(index));
    list.append(button);
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", button.id);
    return panel;
  };
  return {
    element: box,
    fill: (views) => {
      list.replaceChildren();
      panels.replaceChildren(...views.map(panelOf));
    },
    show,
  };
}

/** @returns {Box} */
function accordion(send) {
  const box = element("div", { className: "controls titled" });
  const folds = () => /** @type {HTMLDetailsElement[]} */ ([...box.children]);
  /** @type {number | null} */
  let selected = null;
  const foldOf = (view, index) => {
    const fold = element("details", { className: "control-fold" }, element("summary"), view);
    fold.addEventListener("toggle", () => {
      const isKnown = fold.open === (index === selected);
      if (!isKnown) send({ selected: fold.open ? index : null });
    });
    return fold;
  };
  return {
    element: box,
    fill: (views) => box.replaceChildren(...views.map(foldOf)),
    show: (state) => {
      ({ selected } = state);
      folds().forEach((fold, index) => {
        fold.open = index === selected;
        /** @type {HTMLElement} */ (fold.firstElementChild).textContent =
          state.titles[index] || String(index + 1);
      });
    },
  };
}

/** @type {Record<string, (send: import("./control-parts.js").Send) => Box>} */
export const BOXES = { hbox: plain("hbox"), vbox: plain("vbox"), tab, accordion };
