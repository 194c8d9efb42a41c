/** Moves a cell by its handle: dragged with mouse, pen or finger, or with the arrow keys. */
import { covered } from "../base/view.js";
import { element } from "../base/dom.js";

/** Pixels before a press becomes a drag, and per step of scrolling at the window's edges. */
const SLACK = 4;
const SCROLL = 18;

/** Let the handles in `root`, which has the cells of `notebook`, move their cells. */
export function dragCells(root, notebook) {
  const line = element("div", { className: "drop-line", hidden: true });
  root.before(line);
  const cellAt = (target) => {
    const handle = target.closest?.("[data-drag]");
    return handle ? notebook.cells.find((cell) => cell.root.contains(handle)) : null;
  };

  /** The place before which the cell would land, by the height of the pointer. */
  const placeAt = (y) => {
    const shown = notebook.cells.filter((cell) => !cell.root.hidden);
    const below = shown.find((cell) => {
      const { top, bottom } = cell.root.getBoundingClientRect();
      return y < (top + bottom) / 2;
    });
    return { below, last: shown.at(-1) };
  };
  const showLine = ({ below, last }) => {
    const box = (below ?? last).root.getBoundingClientRect();
    line.style.top = `${(below ? box.top : box.bottom) + scrollY}px`;
    line.style.left = `${box.left + scrollX}px`;
    line.style.width = `${box.width}px`;
    line.hidden = false;
  };

  root.addEventListener("pointerdown", (event) => {
    const cell = event.button === 0 ? cellAt(event.target) : null;
    if (!cell) return;
    event.preventDefault(); // no selection of text
    const { pointerId, clientY: start } = event;
    /** @type {ReturnType<typeof placeAt> | null} */
    let place = null;
    const follow = (moved) => {
      if (moved.pointerId !== pointerId) return;
      if (!place && Math.abs(moved.clientY - start) < SLACK) return;
      const { top, bottom } = covered();
      if (moved.clientY < top) scrollBy(0, -SCROLL);
      else if (moved.clientY > innerHeight - bottom) scrollBy(0, SCROLL);
      cell.root.classList.add("dragged");
      place = placeAt(moved.clientY);
      showLine(place);
    };
    /** @param {any} event */
    const end = ({ type, key }) => {
      if (type === "keydown" && key !== "Escape") return;
      stop.abort();
      line.hidden = true;
      cell.root.classList.remove("dragged");
      if (type !== "pointerup" || !place) return;
      const { cells } = notebook;
      const from = cells.indexOf(cell);
      const to = place.below ? cells.indexOf(place.below) : cells.length;
      const step = (to > from ? to - 1 : to) - from;
      if (step !== 0) notebook.move(cell, step);
    };
    const stop = new AbortController();
    const { signal } = stop;
    addEventListener("pointermove", follow, { signal });
    for (const type of ["pointerup", "pointercancel", "keydown"]) addEventListener(type, end, { signal });
  });
  root.addEventListener("keydown", (event) => {
    const cell = cellAt(event.target);
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!cell || !step) return;
    event.preventDefault();
    event.stopPropagation();
    notebook.move(cell, step);
  }, { capture: true });
}
