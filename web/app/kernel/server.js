/** The server that the page came from: a kernel cannot start without it. */

async function answers() {
  try {
    await fetch("wheel/index.json", { method: "HEAD", cache: "no-store" });
    return true;
  } catch {
    return false;
  }
}

/** Why there is no kernel, and what to do: `message` is what the kernel's end said. */
export async function explainEnd(message) {
  if (await answers()) return `The kernel stopped: ${message}`;
  return `The kernel cannot start: the server at ${location.origin} does not answer. Start it again `
    + "(python3 serve.py, on the same port), then restart the kernel. The notebook stays as it is.";
}
