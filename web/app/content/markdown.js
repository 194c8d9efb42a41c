/** Markdown, formulas and HTML from elsewhere, as boxes that cannot act for their reader. */
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
  void setMath(box.firstElementChild.shadowRoot);
  return box;
}

/** A cell's attachment as an address, or the address as it is. */
function attached(href, attachments) {
  const name = /^attachment:(.*)$/.exec(href)?.[1];
  if (!name) return href;
  const files = attachments[name] ?? attachments[decoded(name)] ?? {};
  const [mime, data] = Object.entries(files).find(([one]) => one.startsWith("image/")) ?? [];
  return mime ? `data:${mime};base64,${data}` : href;
}

/** HTML, shown without what could act. */
export function htmlBox(html) {
  return foreignBox("html", safeFragment(html));
}

/** Markdown as it reads; `attachments` are the cell's, as nbformat has them. */
export function markdownBox(source, attachments = {}) {
  const html = marked.parse(source, {
    walkTokens: (token) => {
      if (token.type === "image") token.href = attached(token.href, attachments);
    },
  });
  return withMath(foreignBox("prose", safeFragment(html)));
}

/** A formula in LaTeX, in its delimiters. */
export function latexBox(source) {
  return markdownBox(/^\s*(\$|\\\(|\\\[|\\begin)/.test(source) ? source : `$$${source}$$`);
}
