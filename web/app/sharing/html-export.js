/**
 * A notebook as one HTML file that shows sources and outputs without any other file or script. A
 * button loads the site's cells, which run in the file's place.
 */
import { pythonLanguage } from "@codemirror/lang-python";
import { highlightCode } from "@lezer/highlight";
import { element } from "../base/dom.js";
import { OutputArea } from "../cells/output.js";
import { SavedWidgets } from "../cells/saved-widgets.js";
import { frameOf } from "../content/active-frame.js";
import { Trust } from "../content/trust.js";
import { markdownBox } from "../content/markdown.js";
import { mathIsSet } from "../content/math.js";
import { widgetCopy } from "../controls/widget-copy.js";
import { WIDGET } from "../controls/widget-models.js";
import { widgets } from "../controls/widgets.js";
import { codeColours } from "../editor/editor.js";
import { exportScript } from "./export-script.js";
import { linkWith } from "./links.js";

const SHEETS = ["base", "cell", "outputs", "widgets", "export"];

/** Return Python code in the editor's colours. */
function codeBox(source) {
  const box = element("pre", { className: "cell-source", tabIndex: 0 });
  highlightCode(source, pythonLanguage.parser.parse(source), codeColours, (text, classes) => {
    box.append(classes ? element("span", { className: classes }, text) : text);
  }, () => box.append("\n"));
  return box;
}

/** Replace content that needs the notebook page. */
async function settle(box) {
  for (const place of box.querySelectorAll(".active-output")) {
    place.replaceChildren(frameOf(place));
    place.after(element("noscript", {}, "The output above needs JavaScript."));
  }
  for (const button of box.querySelectorAll(".inert-note button")) button.remove();
  await Promise.all([...box.querySelectorAll(".foreign > div")].map(settleTree));
}

/** Write a shadow tree as markup. Formulas become MathML, which needs no fonts. */
async function settleTree(host) {
  const tree = host.shadowRoot;
  await mathIsSet(tree);
  const [look] = tree.adoptedStyleSheets;
  const template = element("template");
  template.setAttribute("shadowrootmode", "open");
  const style = element("style", {}, [...look.cssRules].map(({ cssText }) => cssText).join("\n"));
  template.content.append(style, ...[...tree.childNodes].map((node) => node.cloneNode(true)));
  for (const formula of template.content.querySelectorAll(".katex")) {
    formula.replaceWith(formula.querySelector("math") ?? "");
  }
  host.append(template);
}

const note = (text) => element("p", { className: "inert-note" }, text);

/** Return an output as static content. Widgets are copied as they look, and do not act. */
async function outputNodes(output, { trust, saved }, around = []) {
  const area = element("div");
  const load = (some) => new OutputArea(area, { trust }).load(some);
  const id = output.data?.[WIDGET]?.model_id;
  if (!id) {
    load([output]);
    return area.childNodes;
  }
  const isWithinItself = around.includes(id);
  const copy = saved.models.canShow(id) && !isWithinItself ? await widgetCopy(saved.models, id) : null;
  if (copy) {
    for (const one of saved.outputsIn(id)) {
      area.append(...await outputNodes(one, { trust, saved }, [...around, id]));
    }
    const told = note("The widget as it was saved. To use it, open the notebook and run this cell.");
    area.prepend(element("div", { className: "output widget-frame" }, copy, told));
  } else {
    load(saved.plain([output]));
    area.prepend(note("A widget was here, which this page cannot show. Open the notebook and run this cell."));
  }
  return area.childNodes;
}

/** Return a cell as static content. */
async function cellBox({ type, source, attachments, executionCount, outputs }, { folded, trust, saved }) {
  const body = element("div", { className: "cell-body" });
  if (type === "markdown") body.append(markdownBox(source, attachments));
  else if (source.trim()) {
    body.append(type === "code" ? codeBox(source) : element("pre", { className: "cell-source" }, source));
  }
  if (outputs?.length > 0) {
    const area = element("div", { className: "cell-outputs" });
    for (const output of outputs) area.append(...await outputNodes(output, { trust, saved }));
    body.append(folded ? element("details", {}, element("summary", {}, "Show the output"), area) : area);
  }
  await settle(body);
  const count = executionCount ? `[${executionCount}]` : "";
  const box = element("section", { className: "cell" },
    element("div", { className: "cell-gutter" }, element("span", { className: "cell-count" }, count)),
    body);
  box.dataset.type = type;
  return box;
}

async function styles() {
  const texts = SHEETS.map(async (name) => (await fetch(`style/${name}.css`)).text());
  return [...await Promise.all(texts), codeColours.module?.getRules() ?? ""].join("\n");
}

/** Return a link that opens the notebook to be run. */
async function runLink(title, model) {
  try {
    const { link } = await linkWith(title, model);
    return element("a", { className: "export-run", href: link }, "Open in the notebook");
  } catch {
    return ""; // too large for a link
  }
}

/** Return the button that makes the cells run. Without JavaScript it stays hidden. */
function runButton() {
  return element("button", { type: "button", className: "export-cells", hidden: true }, "Make the cells run");
}

/** Return the text of the HTML file for a sheet. */
export async function exportPage(title, sheet) {
  const { model, trust } = sheet;
  const saved = new SavedWidgets(model.metadata, trust);
  const made = new SavedWidgets(model.metadata, new Trust(true));
  made.models.modules = widgets.modelsOf(sheet.kernel)?.modules ?? made.models.modules;
  // Cells may be run, moved or deleted while widgets are copied.
  const shown = model.cells.map((cell, index) => {
    const { isFolded, isMadeHere } = sheet.cells[index];
    return { cell, isFolded, isMadeHere };
  });
  const boxes = [];
  for (const { cell, isFolded, isMadeHere } of shown) {
    boxes.push(await cellBox(cell, {
      folded: isFolded, trust: isMadeHere ? new Trust(true) : trust, saved: isMadeHere ? made : saved,
    }));
  }
  const head = element("head", {},
    element("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
    element("meta", { name: "color-scheme", content: "light dark" }),
    element("title", {}, title), element("style", {}, await styles()));
  const body = element("body", {},
    element("header", { className: "export-head" }, element("h1", {}, title), runButton(),
      await runLink(title, model)),
    element("main", { className: "export" }, ...boxes), element("script", {}, exportScript()));
  return `<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n${head.outerHTML}\n`
    + `${body.outerHTML}\n</html>\n`;
}
