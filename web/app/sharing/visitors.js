/** Opens the notebook that the page's address asks for, as an untrusted copy. */
import { element } from "../base/dom.js";
import { showMessage } from "../base/messages.js";
import { fetchNotebook } from "./addresses.js";
import { requestOf } from "./links.js";

/** The origin of a notebook that a link held. */
const LINK = "link";

/**
 * Return the requested notebook, or null if there is none or it cannot be loaded. Afterwards, the
 * address no longer names the notebook, so that a reload shows the copy with its changes.
 * @returns {Promise<{title: string, text: string, origin: string} | null>}
 */
export async function requestedNotebook() {
  const request = requestOf(location);
  if (!request) return null;
  history.replaceState(null, "", location.pathname);
  const { address, name, read } = request;
  try {
    if (read) return { title: name, text: await read(), origin: LINK };
    const url = URL.parse(address, document.baseURI);
    if (!url) throw new Error("this is not a valid address");
    const found = await fetchNotebook(url);
    return { title: found.name, text: found.text, origin: url.href };
  } catch (error) {
    const what = address ?? `“${name || "The notebook"}”`;
    showMessage(`${what} could not be opened: ${error.message}.`, { kind: "error" });
    return null;
  }
}

/** Show the origin of a copied notebook in `box`, and hide `box` for other notebooks. */
export function showOrigin(box, origin) {
  box.hidden = !origin;
  if (!origin) return;
  const link = /^https?:/.test(origin)
    ? element("a", { href: origin, target: "_blank", rel: "noopener noreferrer" }, origin) : "a link";
  box.replaceChildren("This is a copy of a notebook from ", link, ". Code runs only when you run it.");
}
