/** Markdown and foreign HTML, made safe to put into the page. */
import DOMPurify from "dompurify";
import { marked } from "marked";

// Links of a notebook lead away from it; the notebook itself stays open.
DOMPurify.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName === "A" && node.hasAttribute("href")) {
    node.setAttribute("target", "_blank");
    node.setAttribute("rel", "noopener noreferrer");
  }
});

/** HTML without scripts, handlers and forms. Styles stay, scoped by the browser to nothing. */
export function safeHtml(html) {
  return DOMPurify.sanitize(html, { FORBID_TAGS: ["form", "style", "input", "button"] });
}

/** Markdown as safe HTML. */
export function renderMarkdown(source) {
  return safeHtml(marked.parse(source, { gfm: true }));
}
