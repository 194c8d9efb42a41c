/** Foreign Markdown, formulas and HTML as boxes without active content. */
import { marked } from "marked";
import { decoded } from "./addresses.js";
import { foreignBox } from "./foreign.js";
import { mathExtensions, setMath } from "./math.js";
import { safeFragment } from "./sanitize.js";

marked.use({
  gfm: true,
  extensions: mathExtensions,
  renderer: {
    checkbox: ({ checked }) => '<input type="checkbox" disabled '
      + (checked ? 'checked aria-label="Done"> ' : 'aria-label="To do"> '),
  },
});

function withMath(box) {
  setMath(box.firstElementChild.shadowRoot);
  return box;
}

/** Return the data address of a cell's attachment, or the address unchanged. */
function attached(href, attachments) {
  const name = /^attachment:(.*)$/.exec(href)?.[1];
  if (!name) return href;
  const files = attachments[name] ?? attachments[decoded(name)] ?? {};
  const [mime, data] = Object.entries(files).find(([one]) => one.startsWith("image/")) ?? [];
  return mime ? `data:${mime};base64,${data}` : href;
}

/** Return a box with HTML, without active content. */
export function htmlBox(html) {
  return foreignBox("html", safeFragment(html));
}

/** Return a box with rendered Markdown. `attachments` are the cell's, as in nbformat. */
export function markdownBox(source, attachments = {}) {
  const html = marked.parse(source, {
    walkTokens: (token) => {
      if (token.type === "image") token.href = attached(token.href, attachments);
    },
  });
  return withMath(foreignBox("prose", safeFragment(html)));
}

/** Return the headings in Markdown, as text, with their levels. */
export function headingsOf(source) {
  return marked.lexer(source).filter(({ type }) => type === "heading").map((token) => {
    const { depth, text } = /** @type {any} */ (token);
    const html = /** @type {string} */ (marked.parseInline(text));
    return { depth, text: safeFragment(html).textContent ?? "" };
  });
}

/** Return a box with a LaTeX formula in its delimiters. */
export function latexBox(source) {
  return markdownBox(/^\s*(\$|\\\(|\\\[|\\begin)/.test(source) ? source : `$$${source}$$`);
}
