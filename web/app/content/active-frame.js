/**
 * HTML with scripts, in a frame with its own origin. The scripts cannot reach the page, the
 * browser's storage for it, or another frame.
 */
import { element } from "../base/dom.js";
import { fitHeight } from "./frame-height.js";
import { withSiteScripts } from "./site-scripts.js";

// This runs before the content.
const TELL_HEIGHT = `new ResizeObserver(tellHeight).observe(document.documentElement);
addEventListener("load", tellHeight);
function tellHeight() {
  const inside = document.body ? document.body.scrollHeight : 0;
  const height = Math.max(document.documentElement.offsetHeight, inside);
  parent.postMessage({ height }, "*");
}`;
const beforeWith = (scheme) => `<!doctype html><meta charset="utf-8">`
  + `<style>html { color-scheme: ${scheme} } body { margin: 0; font: 15px/1.55 system-ui, sans-serif }</style>`
  + `<script>${TELL_HEIGHT}</script><body>`;

// Drawings in notebooks expect white paper. Python marks those that it draws dark.
const isDark = (html) => html.startsWith('<div data-paper="dark"');

/**
 * The content of a frame. The page calls `begin(frame)` when it has loaded, and `receive(message)`
 * for each message that is not about its height. `more()` is the height of what the page adds.
 * @typedef {{
 *   html: string, title: string, begin?: (frame: HTMLIFrameElement) => void,
 *   receive?: (message: any) => void, more?: () => number,
 * }} Content
 */
/** @type {Map<HTMLIFrameElement, Content>} the frames on the page, also in shadow trees */
const frames = new Map();

addEventListener("message", ({ source, data }) => {
  for (const one of frames.keys()) if (!one.isConnected) frames.delete(one);
  const frame = [...frames.keys()].find((one) => source && one.contentWindow === source);
  if (!frame || typeof data !== "object" || data === null) return;
  const { receive, more = () => 0 } = /** @type {Content} */ (frames.get(frame));
  if (Number.isFinite(data.height)) fitHeight(frame, data.height, more());
  else receive?.(data);
});

// Frames are created when they come into view. Those of folded outputs are removed.
const sights = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (isIntersecting) show(target);
    else if (!target.checkVisibility()) target.replaceChildren();
  }
}, { rootMargin: "50%" });

/** @type {WeakMap<Element, Content>} content by place */
const contents = new WeakMap();

// An isolated page like ours may load only what other sites allow. Their CDNs allow it for requests
// with CORS, and their pages in frames without credentials.
const WITHIN = "(?:(?!>|&gt;)[^])*?"; // a tag, which is escaped in a frame's srcdoc
const FETCHED = new RegExp(
  `(<|&lt;)(script|link)(?=${WITHIN}\\s(?:src|href)\\s*=)(?!${WITHIN}\\scrossorigin)`, "gi",
);
const asked = (html) => html.replace(FETCHED, "$1$2 crossorigin");

/** Return the frame that shows the content of an activeFrame box, which no longer makes one. */
export function frameOf(place) {
  sights.unobserve(place);
  const { html, title } = /** @type {Content} */ (contents.get(place));
  return frameWith(asked(html), title);
}

function frameWith(html, title) {
  return element("iframe", {
    title, sandbox: "allow-scripts", credentialless: true,
    srcdoc: beforeWith(isDark(html) ? "dark" : "light") + html,
  });
}

async function show(place) {
  if (place.firstChild) return;
  const content = /** @type {Content} */ (contents.get(place));
  const html = await withSiteScripts(asked(content.html));
  if (place.firstChild || !place.checkVisibility()) return;
  const frame = frameWith(html, content.title);
  place.append(frame);
  frames.set(frame, content);
  // A frame that is moved loads again.
  frame.addEventListener("load", () => {
    frames.set(frame, content);
    content.begin?.(frame);
  });
}

/** Create the frame of a box that may be out of view, or in a hidden tab, where nothing comes into view. */
export function showAtOnce(place) {
  sights.unobserve(place);
  return show(place);
}

/** @param {string} className @param {Content} content */
function frameBox(className, content) {
  const place = element("div", { className });
  contents.set(place, content);
  sights.observe(place);
  return place;
}

/** A box that shows `html`, whose scripts run. */
export function activeFrame(html) {
  return frameBox(isDark(html) ? "active-output dark" : "active-output", { html, title: "Active output" });
}

/** A box that shows `html`, whose scripts exchange messages with the page; see `Content`. */
export function connectedFrame(html, content) {
  return frameBox("widget-frame", { html, ...content });
}
