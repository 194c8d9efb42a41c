/** The headings of the notebook, as links to their cells. */
import { element } from "../base/dom.js";
import { headingsOf } from "../content/markdown.js";

/** Fill `list` with the headings of `notebook`. */
export function showOutline(list, notebook) {
  const rows = notebook.cells.filter(({ type }) => type === "markdown").flatMap((cell) =>
    headingsOf(cell.source).map(({ depth, text }) => {
      const button = element("button", { type: "button", className: "link" }, text);
      button.addEventListener("click", () => {
        cell.focus();
        cell.root.scrollIntoView({ block: "start" });
      });
      const row = element("li", {}, button);
      row.style.setProperty("--depth", depth);
      return row;
    }));
  list.replaceChildren(...rows);
  if (rows.length === 0) {
    list.append(element("li", { className: "hint" }, "Headings of text cells are listed here."));
  }
}
