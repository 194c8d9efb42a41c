/**
 * Shows HTML from elsewhere in a shadow tree: its classes and ids are not the page's, clicks in it
 * come from a box of the page, and the box clips what would lie over its neighbours.
 */
import { followAnchor } from "./anchors.js";
import { element } from "../base/dom.js";

/** The style sheet at that address, for shadow trees; it fills when it has arrived. */
export function sharedSheet(url) {
  const { href } = new URL(url, location.href);
  const sheet = new CSSStyleSheet({ baseURL: href });
  const filled = fetch(href).then((response) => response.text()).then((text) => sheet.replace(text));
  filled.catch(() => {}); // without it all can be read, if not as nicely
  return sheet;
}

const look = sharedSheet("style/foreign.css");

/**
 * A box that shows what sanitize.js gave, as `kind`: foreign.css has how each looks.
 * @param {"html" | "prose"} kind
 * @param {DocumentFragment} fragment
 */
export function foreignBox(kind, fragment) {
  const host = element("div");
  const root = host.attachShadow({ mode: "open" });
  root.adoptedStyleSheets = [look];
  const inside = element("div", { className: kind });
  inside.append(fragment);
  // What is wide scrolls: it must be reachable with the keyboard.
  const scrolling = kind === "html" ? [inside] : inside.querySelectorAll("pre, .math.display");
  for (const place of /** @type {Iterable<HTMLElement>} */ (scrolling)) place.tabIndex = 0;
  root.append(inside);
  root.addEventListener("click", followAnchor);
  return element("div", { className: `foreign output-${kind}` }, host);
}
