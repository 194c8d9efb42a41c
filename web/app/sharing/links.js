/** Links to notebooks: by address in the query, or compressed in the fragment. */
import { formatNotebook } from "../cells/ipynb.js";
import { withStates } from "../cells/saved-widgets.js";
import { TooLong, readText } from "./bounded-text.js";

const COMPRESSION = "deflate-raw";
/** A longer link leaves the outputs out, since many programs cut links. */
const MOST_WITH_OUTPUTS = 8000;
/** Chromium's limit is 2 MiB. */
const MOST = 1024 * 1024;

/** A notebook does not fit into a link. */
export class LinkTooLong extends Error {}

async function compressed(text) {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream(COMPRESSION));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** Return the bytes of base64url text. */
function bytesOf(data) {
  return Uint8Array.from(atob(data.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));
}

/** Return the text in a link. */
async function decompressed(data) {
  try {
    const stream = new Blob([bytesOf(data)]).stream();
    return await readText(stream.pipeThrough(new DecompressionStream(COMPRESSION)));
  } catch (cause) {
    if (cause instanceof TooLong) throw cause;
    throw new Error("the link is incomplete", { cause });
  }
}

const withoutOutputs = (cell) => ({ ...cell, executionCount: null, outputs: [] });

/**
 * Return a link to this page that holds a notebook (a sheet's model), and whether the outputs are
 * in it.
 */
export async function linkWith(name, model) {
  const linkOf = async (one) => {
    const link = new URL(location.pathname, location.href);
    const data = await compressed(formatNotebook(one));
    link.hash = new URLSearchParams({ name, notebook: data }).toString();
    return link.href;
  };
  const whole = await linkOf(model);
  if (whole.length <= MOST_WITH_OUTPUTS) return { link: whole, hasOutputs: true };
  const link = await linkOf({
    ...model, metadata: withStates(model.metadata, {}), cells: model.cells.map(withoutOutputs),
  });
  if (link.length > MOST) throw new LinkTooLong("The notebook is too large for a link.");
  return { link, hasOutputs: !model.cells.some(({ outputs }) => outputs?.length > 0) };
}

/** Return a link to this page that opens the notebook at `address`. */
export function linkTo(address) {
  const link = new URL(location.pathname, location.href);
  link.searchParams.set("notebook", address);
  return link.href;
}

/**
 * Return the notebook that the page's address asks for, or null: its `address`, or its `name` and
 * `read()`, which resolves to its text.
 * @param {{search: string, hash: string}} page
 */
export function requestOf({ search, hash }) {
  const inside = new URLSearchParams(hash.slice(1));
  const data = inside.get("notebook");
  if (data) return { name: inside.get("name") ?? "", read: () => decompressed(data) };
  const address = new URLSearchParams(search).get("notebook");
  return address ? { address } : null;
}
