/** Sanitizes foreign HTML: no scripts, no handlers, nothing that controls the page. */
import DOMPurify from "dompurify";
import { safeDeclarations, safeSheet } from "./safe-styles.js";

const ACTS = "script, iframe, frame, object, embed";

const CONFIG = {
  RETURN_DOM_FRAGMENT: true,
  FORCE_BODY: true, // else a style element at the beginning is lost
  ALLOW_DATA_ATTR: false,
  FORBID_TAGS: [
    "button", "datalist", "dialog", "fieldset", "form", "optgroup", "option", "select", "textarea",
  ],
  FORBID_ATTR: [
    "accesskey", "autofocus", "command", "commandfor", "contenteditable", "inert", "name", "popover",
    "popovertarget", "popovertargetaction",
  ],
};

DOMPurify.addHook("uponSanitizeElement", (node, { tagName }) => {
  if (tagName === "style") node.textContent = safeSheet(node.textContent);
  // Task lists and CSS-only folding use check boxes.
  if (tagName === "input" && node.getAttribute("type")?.toLowerCase() !== "checkbox") node.remove();
});

DOMPurify.addHook("uponSanitizeAttribute", (_node, data) => {
  if (data.attrName === "style") {
    data.attrValue = safeDeclarations(data.attrValue);
    data.keepAttr = data.attrValue !== "";
  }
  // The page finds its own elements by id.
  if (data.attrName === "id" && document.getElementById(data.attrValue)) data.keepAttr = false;
});

DOMPurify.addHook("afterSanitizeAttributes", (node) => {
  const links = ["href", "xlink:href"].filter((name) => node.hasAttribute(name));
  if (links.length === 0) return;
  // Links open elsewhere, so that the notebook stays open.
  if (["a", "area"].includes(node.tagName.toLowerCase())) {
    node.setAttribute("target", "_blank");
    node.setAttribute("rel", "noopener noreferrer");
  } else if (node.namespaceURI === "http://www.w3.org/1998/Math/MathML") {
    for (const name of links) node.removeAttribute(name);
  }
});

/**
 * Return the harmless part of HTML. Its ids, classes and styles require a shadow tree: show it with
 * foreign.js.
 * @returns {DocumentFragment}
 */
export function safeFragment(html) {
  return DOMPurify.sanitize(html, CONFIG);
}

/** Return the harmless part, and whether there were scripts or frames. */
export function safeParts(html) {
  const fragment = safeFragment(html);
  const wouldAct = DOMPurify.removed.some(({ element }) =>
    element instanceof Element && (element.matches(ACTS) || element.querySelector(ACTS) !== null));
  return { fragment, wouldAct };
}
