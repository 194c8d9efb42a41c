/** Requirements of this page on the browser, and what to do if one is missing. */

const BROWSERS = "Chrome or Edge 137 or newer, Firefox 153 or newer, or Safari 27 or newer";

export const PROBLEMS = {
  insecure: {
    title: "This address is not secure",
    what: "Browsers offer WebGPU and shared memory only to pages from https:// or from this "
      + "machine.",
    todo: [
      "Open the page as http://127.0.0.1 or http://localhost, with the port that serve.py printed.",
      "To use it from another machine, put an https:// proxy in front of serve.py.",
    ],
  },
  isolation: {
    title: "The page is not cross-origin isolated",
    what: "Without isolation there is no SharedArrayBuffer, and the Interrupt button cannot stop "
      + "a running loop.",
    todo: [
      "Serve the page with python3 serve.py, which sends the two headers that isolation needs.",
      "With another server, send Cross-Origin-Opener-Policy: same-origin and "
        + "Cross-Origin-Embedder-Policy: require-corp with every file.",
      "Open the page in a tab of its own, not inside another site's frame.",
    ],
  },
  jspi: {
    title: "This browser cannot let Python wait (no JSPI)",
    what: "Python that waits for the GPU needs JavaScript Promise Integration. Without it, "
      + "only the awaitable calls work, such as await backend.copy_dtoh_async(…).",
    todo: [`Use ${BROWSERS}.`],
  },
  webgpu: {
    title: "This browser has no WebGPU",
    what: "navigator.gpu is missing, so the page cannot reach the GPU.",
    todo: [
      `Use ${BROWSERS}.`,
      "In Chrome on Linux, switch on “Unsafe WebGPU Support” and “Vulkan” in "
        + "chrome://flags.",
    ],
  },
  adapter: {
    title: "WebGPU found no graphics adapter",
    what: "The browser has WebGPU, but offers no GPU to this page.",
    todo: [
      "Switch on “Use graphics acceleration when available” in the browser's settings, and "
        + "restart it.",
      "Look at chrome://gpu: it says why WebGPU is blocked, often an old graphics driver.",
      "Without a GPU, start Chrome with --enable-unsafe-webgpu "
        + "--use-webgpu-adapter=swiftshader to compute on the processor.",
    ],
  },
};

/** Return the keys of PROBLEMS that apply in `scope`, the page's global object. */
export async function detectProblems(scope = globalThis) {
  const found = [];
  if (!scope.isSecureContext) found.push("insecure");
  else if (!scope.crossOriginIsolated) found.push("isolation");
  if (!("Suspending" in scope.WebAssembly)) found.push("jspi");
  if (!scope.isSecureContext) return found;
  if (!scope.navigator.gpu) found.push("webgpu");
  else if (!(await findAdapter(scope.navigator.gpu))) found.push("adapter");
  return found;
}

async function findAdapter(gpu) {
  try {
    return await gpu.requestAdapter();
  } catch {
    return null;
  }
}
