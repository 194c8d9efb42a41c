/** The page's server, without which a kernel cannot start. */
import { addressOf } from "../../kernel/addresses.js";

async function answers() {
  try {
    await fetch(addressOf("wheel/index.json"), { method: "HEAD", cache: "no-store" });
    return true;
  } catch {
    return false;
  }
}

/** Explain why there is no kernel and what to do. `message` is the kernel's last one. */
export async function explainEnd(message) {
  if (await answers()) return `The kernel stopped: ${message}`;
  return `The kernel cannot start: the server at ${new URL(addressOf("")).origin} does not answer. Start it again `
    + "(python3 serve.py, on the same port), then restart the kernel. The notebook stays as it is.";
}
