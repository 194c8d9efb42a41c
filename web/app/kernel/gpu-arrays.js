/** The arrays on the GPU, and the times of the last cells. */
import { element, formatBytes, formatSeconds } from "../base/dom.js";

const CELL = "Cell "; // begins the names of cells' runs
const MOST_CELLS = 8;

const head = (...names) => element("thead", {},
  element("tr", {}, ...names.map((name) => element("th", { scope: "col" }, name))));

/** Fill `table` with the arrays of `kernel`. A busy kernel leaves it as it is. */
export async function showArrays(kernel, table) {
  const found = await kernel.arrays();
  if (!found) return;
  const rows = found.rows.map(({ name, shape, bytes, note, line }) => {
    const title = element("th", { scope: "row", title: line }, name);
    if (line) title.append(element("small", {}, line));
    return element("tr", {}, title, element("td", {}, shape),
      element("td", {}, note || formatBytes(bytes)));
  });
  if (found.others > 0) {
    rows.push(element("tr", { title: "Arrays without a name, and memory of backends" },
      element("td", {}, "others"), element("td", {}), element("td", {}, formatBytes(found.others))));
  }
  table.replaceChildren(head("Array", "Shape", "Bytes"), element("tbody", {}, ...rows));
  table.hidden = rows.length === 0;
}

/** Keep the times of the last cells in `table`: Python's, and the GPU's after Python's end. */
export function showCellTimes(kernel, table) {
  /** @type {{id: number, name: string, python: number, gpu: number}[]} */
  let times = [];
  const draw = () => {
    const rows = times.map(({ name, python, gpu }) => element("tr", {},
      element("th", { scope: "row" }, `[${name.slice(CELL.length)}]`),
      element("td", {}, formatSeconds(python)),
      element("td", {}, gpu > 0.001 ? formatSeconds(gpu) : "–")));
    table.replaceChildren(head("Cell", "Python", "then the GPU"), element("tbody", {}, ...rows));
    table.hidden = rows.length === 0;
  };
  kernel.addEventListener("ran", ({ detail: { id, name, seconds } }) => {
    if (!name.startsWith(CELL)) return;
    times = [{ id, name, python: seconds, gpu: 0 }, ...times].slice(0, MOST_CELLS);
    draw();
  });
  kernel.addEventListener("gpu", ({ detail: { id, seconds } }) => {
    const own = times.find((one) => one.id === id);
    if (!own) return;
    own.gpu = seconds;
    draw();
  });
  kernel.addEventListener("state", ({ detail: { state } }) => {
    if (state !== "loading") return;
    times = [];
    draw();
  });
}
