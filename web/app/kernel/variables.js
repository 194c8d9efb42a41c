/** The table of Python's variables. */
import { element, formatBytes } from "../base/dom.js";

const HEADS = ["Name", "Type", "Shape", "Bytes"];

/** Fill `table` with the variables of `kernel`. A busy kernel leaves it as it is. */
export async function showVariables(table, kernel) {
  const rows = await kernel.variables();
  if (!rows) return;
  const cells = rows.map(({ name, type, shape, bytes }) => element("tr", {},
    element("th", { scope: "row" }, name), element("td", {}, type), element("td", {}, shape),
    element("td", {}, bytes === null ? "" : formatBytes(bytes))));
  const head = element("tr", {}, ...HEADS.map((text) => element("th", { scope: "col" }, text)));
  table.replaceChildren(element("thead", {}, head), element("tbody", {}, ...cells));
  table.hidden = rows.length === 0;
}
