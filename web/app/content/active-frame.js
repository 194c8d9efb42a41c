/**
 * HTML with scripts, in a frame of an origin of its own: they reach neither the page, nor what the
 * browser keeps for it, nor another frame.
 */
import { element } from "../base/dom.js";

const LEAST_HEIGHT = 24;
const MOST_HEIGHT = 1200;

// It runs before what is shown. What is as high as its window would grow for ever: hence a bound.
const TELL_HEIGHT = `new ResizeObserver(tellHeight).observe(document.documentElement);
addEventListener("load", tellHeight);
function tellHeight() {
  const inside = document.body ? document.body.scrollHeight : 0;
  const height = Math.max(document.documentElement.offsetHeight, inside);
  parent.postMessage({ height }, "*");
}`;
// Whoever draws in a notebook draws for white paper.
const BEFORE = '<!doctype html><meta charset="utf-8"><style>html { color-scheme: light }'
  + "body { margin: 0; font: 15px/1.55 system-ui, sans-serif }</style>"
  + `<script>${TELL_HEIGHT}</script><body>`;

addEventListener("message", ({ source, data }) => {
  const frames = [...document.querySelectorAll(".active-output iframe")];
  const frame = /** @type {HTMLIFrameElement | undefined} */ (
    frames.find((one) => source && /** @type {any} */ (one).contentWindow === source));
  if (!frame || !Number.isFinite(data?.height)) return;
  frame.style.height = `${Math.min(Math.max(data.height, LEAST_HEIGHT), MOST_HEIGHT)}px`;
});

// Frames that nobody sees cost nothing: they are made when their places come into view, and those
// of folded outputs are taken away.
const sights = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (isIntersecting) show(target);
    else if (!target.checkVisibility()) target.replaceChildren();
  }
}, { rootMargin: "50%" });

/** @type {WeakMap<Element, string>} what is shown at each place */
const contents = new WeakMap();

// A page that is isolated, as ours, takes what other sites serve only with their leave: what their
// CDNs give to all, where it is asked for so; and their pages in frames without credentials.
const WITHIN = "(?:(?!>|&gt;)[^])*?"; // a tag, which is escaped where a frame has it in its srcdoc
const FETCHED = new RegExp(
  `(<|&lt;)(script|link)(?=${WITHIN}\\s(?:src|href)\\s*=)(?!${WITHIN}\\scrossorigin)`, "gi",
);
const asked = (html) => html.replace(FETCHED, "$1$2 crossorigin");

function show(place) {
  if (place.firstChild) return;
  const frame = element("iframe", {
    title: "Active output",
    sandbox: "allow-scripts",
    credentialless: true,
    srcdoc: BEFORE + asked(contents.get(place)),
  });
  place.append(frame);
}

/** A box that shows `html`, whose scripts run. */
export function activeFrame(html) {
  const place = element("div", { className: "active-output" });
  contents.set(place, html);
  sights.observe(place);
  return place;
}
