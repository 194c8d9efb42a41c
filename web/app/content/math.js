/** LaTeX formulas: found in Markdown, and set by KaTeX, which is loaded on demand. */
import { addressOf } from "../../kernel/addresses.js";
import { sharedSheet } from "./foreign.js";
import { element } from "../base/dom.js";

const FOLDER = "vendor/katex/dist/";
const DISPLAYED = [
  /^\$\$([^]+?)\$\$/, /^\\\[([^]+?)\\\]/, /^(\\begin\{([a-zA-Z]+\*?)\}[^]+?\\end\{\2\})/,
];
// Prices are not formulas: no space inside the dollars, no digit after the second.
const INLINE = [/^\$((?!\s)(?:\\[^]|[^\\$`])+?)(?<!\s)\$(?!\d)/, /^\\\(([^]+?)\\\)/];

function token(type, source, patterns) {
  for (const pattern of patterns) {
    const found = pattern.exec(source);
    if (found) return { type, raw: found[0], text: found[1] };
  }
}

function placeholder(className, text) {
  return element("span", { className, textContent: text.trim() }).outerHTML;
}

const displayed = ({ text }) => placeholder("math display", text);

/** Extensions of `marked` that keep formulas as text in elements of class "math". */
export const mathExtensions = [
  {
    name: "displayedMath",
    level: "block",
    start: (source) => source.search(/\$\$|\\\[|\\begin\{/),
    tokenizer: (source) => token("displayedMath", source, DISPLAYED),
    renderer: (found) => `<p>${displayed(found)}</p>`,
  },
  {
    name: "displayedInText",
    level: "inline",
    start: (source) => source.search(/\$\$|\\\[|\\begin\{/),
    tokenizer: (source) => token("displayedInText", source, DISPLAYED),
    renderer: displayed,
  },
  {
    name: "inlineMath",
    level: "inline",
    start: (source) => source.search(/\$|\\\(/),
    tokenizer: (source) => token("inlineMath", source, INLINE),
    renderer: ({ text }) => placeholder("math", text),
  },
];

/** @type {Promise<any> | null} */
let loading = null;
/** @type {CSSStyleSheet} */
let look;

async function load() {
  // The fonts apply to the document, the other rules to the shadow trees that adopt them.
  document.head.append(element("link", { rel: "stylesheet", href: addressOf(`${FOLDER}katex.min.css`) }));
  look = sharedSheet(`${FOLDER}katex.min.css`);
  return (await import("katex")).default;
}

/** @type {WeakMap<ShadowRoot, Promise<void>>} */
const settings = new WeakMap();

/** Set the formulas in a shadow tree. They remain text until KaTeX has loaded. */
export function setMath(root) {
  settings.set(root, set(root));
}

/** Wait until the formulas in a shadow tree are set. */
export function mathIsSet(root) {
  return settings.get(root);
}

/** @param {ShadowRoot} root */
async function set(root) {
  const formulas = root.querySelectorAll(".math");
  if (formulas.length === 0) return;
  const katex = await (loading ??= load()).catch(() => null);
  if (katex === null) {
    loading = null; // the next one tries again
    return;
  }
  root.adoptedStyleSheets.push(look);
  for (const formula of formulas) {
    const displayMode = formula.classList.contains("display");
    // Without trust, KaTeX makes neither links nor attributes from its input.
    katex.render(formula.textContent, formula, { displayMode, throwOnError: false, trust: false });
  }
}
