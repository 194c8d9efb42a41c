/** Workers that run the site's scripts, also in a page of another site. */
import { addressOf } from "../../kernel/addresses.js";

/** Start a worker that runs a module of the site. */
export function moduleWorker(path) {
  const address = addressOf(path);
  if (new URL(address).origin === location.origin) return new Worker(address, { type: "module" });
  // Browsers refuse a script of another site as a worker, but let a worker import it.
  const script = new Blob([`import ${JSON.stringify(address)};`], { type: "text/javascript" });
  return new Worker(URL.createObjectURL(script), { type: "module" });
}
