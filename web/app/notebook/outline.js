/** The headings of the notebook, as links to their cells. */
import { element } from "../base/dom.js";
import { headingsOf } from "../content/markdown.js";
import { sectionOf } from "./sections.js";

/** Return a button that hides or shows the cells under a heading, a gap if there are none. */
function foldButton(cell, text, { count, toggle }) {
  if (!count) return element("span", { className: "outline-fold" });
  const folded = cell.isSectionFolded;
  const button = element("button", { type: "button", className: "quiet outline-fold" }, folded ? "▸" : "▾");
  button.setAttribute("aria-expanded", String(!folded));
  button.setAttribute("aria-label", `Cells under ${text}`);
  button.addEventListener("click", toggle);
  return button;
}

/** Fill `list` with the headings of `notebook`. `sections` hides the cells under a heading. */
export function showOutline(list, notebook, sections) {
  const rows = notebook.cells.filter(({ type }) => type === "markdown").flatMap((cell) =>
    headingsOf(cell.source).map(({ depth, text }, index) => {
      const button = element("button", { type: "button", className: "link" }, text);
      button.addEventListener("click", () => {
        cell.focus();
        cell.root.scrollIntoView({ block: "start" });
      });
      // A cell's first heading is that of its section.
      const count = index === 0 ? sectionOf(notebook, cell).length : 0;
      const fold = foldButton(cell, text, { count, toggle: () => sections.toggle(cell) });
      const row = element("li", {}, fold, button);
      row.style.setProperty("--depth", depth);
      return row;
    }));
  list.replaceChildren(...rows);
  if (rows.length === 0) {
    list.append(element("li", { className: "hint" }, "Headings of text cells are listed here."));
  }
}
