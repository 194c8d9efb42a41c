/**
 * Shows foreign HTML in a shadow tree. Its classes and ids do not mix with the page's, its clicks
 * come from a box of the page, and the box clips content that would cover its neighbours.
 */
import { followAnchor } from "./anchors.js";
import { addressOf } from "../../kernel/addresses.js";
import { element } from "../base/dom.js";

/**
 * Return a style sheet of the site for shadow trees. It is filled when it has loaded. `adapt` changes
 * its text.
 */
export function sharedSheet(path, adapt = (text) => text) {
  const href = addressOf(path);
  const sheet = new CSSStyleSheet({ baseURL: href });
  const filled = fetch(href).then((response) => response.text())
    .then((text) => sheet.replace(adapt(text)));
  filled.catch(() => {}); // without it, the content is readable but unstyled
  return sheet;
}

const look = sharedSheet("style/foreign.css");

/**
 * Return a box with the result of sanitize.js. foreign.css styles each `kind`.
 * @param {"html" | "prose"} kind
 * @param {DocumentFragment} fragment
 */
export function foreignBox(kind, fragment) {
  const host = element("div");
  const root = host.attachShadow({ mode: "open" });
  root.adoptedStyleSheets = [look];
  const inside = element("div", { className: kind });
  inside.append(fragment);
  // Wide content scrolls, so it must be reachable by keyboard.
  const scrolling = kind === "html" ? [inside] : inside.querySelectorAll("pre, .math.display");
  for (const place of /** @type {Iterable<HTMLElement>} */ (scrolling)) place.tabIndex = 0;
  root.append(inside);
  root.addEventListener("click", followAnchor);
  return element("div", { className: `foreign output-${kind}` }, host);
}
