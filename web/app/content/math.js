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

/** Without trust, KaTeX makes neither links nor attributes from its input. */
const optionsOf = (displayMode) => ({ displayMode, throwOnError: false, trust: false });

/** @type {Promise<{style: string, fonts: any[]}> | null} */
let loadingLook = null;

/** Load KaTeX's rules and fonts for frames, which cannot load files of the site. */
async function readLook() {
  const text = await (await fetch(addressOf(`${FOLDER}katex.min.css`))).text();
  const faces = [...text.matchAll(/@font-face\{([^}]*)\}/g)].map(async ([, rules]) => {
    const rule = (name) => new RegExp(`${name}:"?([^;"]+)`).exec(rules)?.[1];
    const file = /** @type {RegExpExecArray} */ (/url\(([^)]+\.woff2)\)/.exec(rules))[1];
    const bytes = await (await fetch(addressOf(FOLDER + file))).arrayBuffer();
    return { family: rule("font-family"), weight: rule("font-weight"), style: rule("font-style"), bytes };
  });
  return { style: text.replace(/@font-face\{[^}]*\}/g, ""), fonts: await Promise.all(faces) };
}

/** Return KaTeX's rules, and its fonts as bytes, for a frame. */
export function mathLook() {
  loadingLook ??= readLook();
  loadingLook.catch(() => {
    loadingLook = null; // the next one tries again
  });
  return loadingLook;
}

/** Return text as HTML with its formulas set; null if there are none. */
export async function mathHtml(text) {
  const katex = await (loading ??= load());
  const parts = [];
  let plain = "";
  for (let rest = text; rest !== "";) {
    const shown = token("display", rest, DISPLAYED);
    const found = shown ?? token("inline", rest, INLINE);
    const raw = found?.raw ?? rest[0];
    if (found) {
      parts.push(escaped(plain), katex.renderToString(found.text, optionsOf(Boolean(shown))));
      plain = "";
    } else plain += raw;
    rest = rest.slice(raw.length);
  }
  return parts.length > 0 ? [...parts, escaped(plain)].join("") : null;
}

const escaped = (text) => element("span", {}, text).innerHTML;

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
    katex.render(formula.textContent, formula, optionsOf(formula.classList.contains("display")));
  }
}
