/**
 * HTML with scripts, in a frame with its own origin. The scripts cannot reach the page, the
 * browser's storage for it, or another frame.
 */
import { element } from "../base/dom.js";

const LEAST_HEIGHT = 24;
const MOST_HEIGHT = 1200;

// This runs before the content. It bounds the height, since content as high as its window would
// grow forever.
const TELL_HEIGHT = `new ResizeObserver(tellHeight).observe(document.documentElement);
addEventListener("load", tellHeight);
function tellHeight() {
  const inside = document.body ? document.body.scrollHeight : 0;
  const height = Math.max(document.documentElement.offsetHeight, inside);
  parent.postMessage({ height }, "*");
}`;
// Drawings in notebooks expect white paper.
const BEFORE = '<!doctype html><meta charset="utf-8"><style>html { color-scheme: light }'
  + "body { margin: 0; font: 15px/1.55 system-ui, sans-serif }</style>"
  + `<script>${TELL_HEIGHT}</script><body>`;

/** @type {Set<HTMLIFrameElement>} the frames on the page, also in shadow trees */
const frames = new Set();

addEventListener("message", ({ source, data }) => {
  for (const one of frames) if (!one.isConnected) frames.delete(one);
  const frame = [...frames].find((one) => source && one.contentWindow === source);
  if (!frame || !Number.isFinite(data?.height)) return;
  frame.style.height = `${Math.min(Math.max(data.height, LEAST_HEIGHT), MOST_HEIGHT)}px`;
});

// Frames are created when they come into view. Those of folded outputs are removed.
const sights = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (isIntersecting) show(target);
    else if (!target.checkVisibility()) target.replaceChildren();
  }
}, { rootMargin: "50%" });

/** @type {WeakMap<Element, string>} content by place */
const contents = new WeakMap();

// An isolated page like ours may load only what other sites allow. Their CDNs allow it for requests
// with CORS, and their pages in frames without credentials.
const WITHIN = "(?:(?!>|&gt;)[^])*?"; // a tag, which is escaped in a frame's srcdoc
const FETCHED = new RegExp(
  `(<|&lt;)(script|link)(?=${WITHIN}\\s(?:src|href)\\s*=)(?!${WITHIN}\\scrossorigin)`, "gi",
);
const asked = (html) => html.replace(FETCHED, "$1$2 crossorigin");

/** Return the frame that shows the content of an activeFrame box. */
export function frameOf(place) {
  return element("iframe", {
    title: "Active output",
    sandbox: "allow-scripts",
    credentialless: true,
    srcdoc: BEFORE + asked(contents.get(place)),
  });
}

function show(place) {
  if (place.firstChild) return;
  const frame = frameOf(place);
  place.append(frame);
  frames.add(frame);
}

/** A box that shows `html`, whose scripts run. */
export function activeFrame(html) {
  const place = element("div", { className: "active-output" });
  contents.set(place, html);
  sights.observe(place);
  return place;
}
