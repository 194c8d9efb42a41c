/** Figures in the colours of another theme than the page's. Only a run of their cells redraws them. */
import { showMessage } from "../base/messages.js";
import { onNewScreen, screenNow } from "../base/screen.js";

/** @type {WeakMap<import("./cell.js").Cell, boolean>} whether a cell's last run drew for dark paper */
const drawn = new WeakMap();

/** Note the theme that the figures of a cell's run will have. */
export function noteTheme(cell) {
  drawn.set(cell, screenNow().isDark);
}

const LIBRARIES = /data-paper="dark"|plotly|vega|bokeh/i;

function isFigure({ data = {} }) {
  return String(data["text/plain"]).startsWith("<Figure size") || LIBRARIES.test(String(data["text/html"] ?? ""));
}

/** Say which figures of the notebook keep their colours when the theme changes. */
export function tellOfOldFigures(notebook) {
  let takeAway = () => {};
  onNewScreen(() => {
    takeAway();
    const { isDark } = screenNow();
    const cells = notebook.cells.filter((cell) =>
      (drawn.get(cell) ?? isDark) !== isDark && cell.model.outputs?.some(isFigure));
    if (cells.length === 0) return;
    const one = cells.length === 1;
    takeAway = showMessage(
      `The figures of ${one ? "a cell" : `${cells.length} cells`} keep the other theme’s colours until `
      + `${one ? "it runs" : "they run"} again.`, {
        ofNotebook: true,
        action: { label: one ? "Run the cell" : "Run these cells", run: () => notebook.runAll(cells) },
      },
    );
  });
}
