/** Notebooks of other sites: their addresses, and their text within limits. */
import { decoded } from "../content/addresses.js";
import { readText } from "./bounded-text.js";

const RAW = "https://raw.githubusercontent.com/";
const GISTS = "https://api.github.com/gists/";
const FILE = /^\/([^/]+\/[^/]+)\/(?:blob|raw)\/(.+)$/;
const GIST = /^\/(?:[^/]+\/)?([0-9a-f]{20,})(?:\/|$)/;

/** Return the address of the file that GitHub shows at `address`, else `address` itself. */
export function fileAddress(address) {
  const { hostname, pathname } = address;
  const file = /^(www\.)?github\.com$/.test(hostname) ? FILE.exec(pathname) : null;
  return file ? new URL(`${RAW}${file[1]}/${file[2]}`) : address;
}

/** Return a notebook's name, from the last part of its address. */
export function nameOf({ hostname, pathname }) {
  const last = decoded(pathname.split("/").filter(Boolean).at(-1) ?? hostname);
  return last.replace(/\.ipynb$/i, "");
}

async function fetchText(address) {
  let response;
  try {
    response = await fetch(address);
  } catch {
    throw new Error(`${address.host} does not answer, or does not let other sites read its files`
      + " (CORS). Download the notebook and open the file.");
  }
  if (!response.ok) throw new Error(`${address.host} answered with HTTP ${response.status}`);
  return readText(/** @type {ReadableStream<Uint8Array>} */ (response.body));
}

/** Fetch the first notebook of a gist. */
async function fetchGist(id) {
  const { files = {} } = JSON.parse(await fetchText(new URL(GISTS + id)));
  const found = /** @type {any} */ (Object.values(files))
    .find(({ filename }) => /\.ipynb$/i.test(filename));
  if (!found) throw new Error("the gist has no .ipynb file");
  const text = found.truncated ? await fetchText(new URL(found.raw_url)) : found.content;
  return { name: nameOf({ hostname: "", pathname: found.filename }), text };
}

/**
 * Fetch the notebook at an address, which may be a GitHub page of a notebook. Resolves to its name
 * and text.
 * @param {URL} address
 */
export async function fetchNotebook(address) {
  if (!/^https?:$/.test(address.protocol)) {
    throw new Error("its address must begin with https:// or http://");
  }
  const gist = address.hostname === "gist.github.com" ? GIST.exec(address.pathname) : null;
  if (gist) return fetchGist(gist[1]);
  return { name: nameOf(address), text: await fetchText(fileAddress(address)) };
}
