/** Formulas in LaTeX: found in Markdown, and set by KaTeX, which is loaded when there is one. */
import { sharedSheet } from "./foreign.js";
import { element } from "../base/dom.js";

const FOLDER = "vendor/katex/dist/";
const DISPLAYED = [
  /^\$\$([^]+?)\$\$/, /^\\\[([^]+?)\\\]/, /^(\\begin\{([a-zA-Z]+\*?)\}[^]+?\\end\{\2\})/,
];
// Prices stay: no space inside the dollars, no digit behind the second.
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

/** What `marked` needs to leave formulas as they are written, in elements of class "math". */
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
  // The fonts count for the document alone, the rest for the trees that adopt it.
  document.head.append(element("link", { rel: "stylesheet", href: `${FOLDER}katex.min.css` }));
  look = sharedSheet(`${FOLDER}katex.min.css`);
  return (await import("katex")).default;
}

/**
 * Set the formulas in a shadow tree. Until KaTeX is there they stand as they are written.
 * @param {ShadowRoot} root
 */
export async function setMath(root) {
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
    // Without trust KaTeX makes no links and no attributes of what it reads.
    katex.render(formula.textContent, formula, { displayMode, throwOnError: false, trust: false });
  }
}
