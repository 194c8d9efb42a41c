/**
 * Scripts of libraries for figures, whose HTML names them on a CDN. The site has the same files, so
 * that figures are shown without a network.
 */
import { addressOf } from "../../kernel/addresses.js";

/**
 * The end of a script's address on a CDN, and the site's file. Versions are those of pins.toml.
 * @type {[end: string, file: string][]}
 */
const FILES = [
  ["/plotly-4.1.1.min.js", "plotly.js-dist-min/plotly.min.js"],
  ["/vega@6?noext", "vega/build/vega.min.js"],
  ["/vega-lite@6.1.0?noext", "vega-lite/build/vega-lite.min.js"],
  ["/vega-embed@7?noext", "vega-embed/build/vega-embed.min.js"],
  ...["", "-gl", "-mathjax", "-tables", "-widgets"].map((part) => /** @type {[string, string]} */ (
    [`/bokeh${part}-3.9.0.min.js`, `@bokeh/bokehjs/build/js/bokeh${part}.min.js`])),
];
const ADDRESS = /https:\/\/[\w.-]+(?:\/[\w.@-]+)*?(\/[\w.@-]+(?:\.js|\?noext))(?=["'&])/g;

/** @type {Map<string, Promise<string>>} data URLs by file: a frame may load nothing of the site */
const loaded = new Map();

function load(file) {
  if (!loaded.has(file)) loaded.set(file, read(file));
  return /** @type {Promise<string>} */ (loaded.get(file));
}

async function read(file) {
  const answer = await fetch(addressOf(`vendor/${file}`));
  if (!answer.ok) throw new Error(`${file}: HTTP ${answer.status}`);
  const script = new Blob([await answer.arrayBuffer()], { type: "text/javascript;charset=utf-8" });
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(script);
  });
}

/** Return `html` with the site's scripts in place of the CDN's. */
export async function withSiteScripts(html) {
  /** @type {Map<string, string>} */
  const replaced = new Map();
  for (const [address, end] of html.matchAll(ADDRESS)) {
    const found = FILES.find(([known]) => known === end);
    // A file that cannot be read may still be on the CDN.
    if (found) replaced.set(address, await load(found[1]).catch(() => address));
  }
  return html.replace(ADDRESS, (address) => replaced.get(address) ?? address);
}
