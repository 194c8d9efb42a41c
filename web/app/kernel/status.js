/** The status bar: kernel, adapter, its features, GPU memory. */
import { element, formatBytes } from "../base/dom.js";

const POLL_MS = 3000;
const LABELS = {
  loading: "Loading", idle: "Ready", busy: "Running", interrupting: "Interrupting…",
  dead: "Not running",
};

/** Update an element's text and `data-state` with the kernel's state. */
export function showKernelState(kernel, box) {
  kernel.addEventListener("state", ({ detail: { state, message } }) => {
    box.dataset.state = state;
    box.textContent = LABELS[state];
    box.title = message;
  });
  kernel.addEventListener("loading", ({ detail: { text } }) => {
    if (kernel.state === "busy") box.textContent = text;
  });
}

/** Return an adapter's short name: "NVIDIA hopper", "google swiftshader". */
export function adapterName(adapter) {
  if (!adapter) return "No GPU";
  const { vendor, architecture, device, description } = adapter;
  return description || [vendor, architecture, device].filter(Boolean).join(" ") || "Unnamed GPU";
}

function showAdapter({ adapter, python }, { box, features, dialog, list }) {
  box.textContent = adapterName(adapter);
  const { vendor, architecture, device } = adapter ?? {};
  box.title = [
    vendor && `Vendor: ${vendor}`, architecture && `Architecture: ${architecture}`,
    device && `Device: ${device}`, `Python ${python}`,
  ].filter(Boolean).join("\n");
  features.hidden = !adapter;
  if (!adapter) return;
  features.textContent = `${adapter.features.length} features`;
  features.onclick = () => dialog.showModal();
  list.replaceChildren(...adapter.features.map((name) =>
    element("li", {}, element("code", {}, name))));
}

async function showMemory(kernel, box) {
  if (kernel.state !== "idle" || document.visibilityState === "hidden") return;
  const memory = await kernel.status();
  if (!memory) return;
  const { devices, bytes, pooled, buffers } = memory;
  box.textContent = devices === 0 ? "" : `GPU memory ${formatBytes(bytes)}`;
  box.title = `GPU memory that Python holds: ${formatBytes(bytes)} in ${buffers} `
    + `${buffers === 1 ? "buffer" : "buffers"}, ${formatBytes(pooled)} kept for reuse`;
}

/** A light while the GPU still works for a run. */
function showGpu(kernel, light) {
  kernel.addEventListener("gpu", ({ detail: { working } }) => {
    light.textContent = working ? "GPU working" : "";
  });
  kernel.addEventListener("state", ({ detail: { state } }) => {
    if (state === "loading" || state === "dead") light.textContent = "";
  });
}

/** Say that the GPU was lost, with a button that restarts the kernel, until another one starts. */
function showLoss(kernel, { box, button, restart }) {
  const show = (isLost) => {
    box.textContent = isLost ? "The GPU was lost, with all arrays on it." : "";
    button.hidden = !isLost;
  };
  kernel.addEventListener("memory", ({ detail: { lost } }) => show(lost > 0));
  kernel.addEventListener("state", ({ detail: { state } }) => {
    if (state === "loading") show(false);
  });
  button.addEventListener("click", restart);
}

/** Update the status bar from `kernel`. */
export function showStatus(kernel, { kernelBox, adapter, memory, gpu, loss }) {
  showGpu(kernel, gpu);
  showLoss(kernel, loss);
  showKernelState(kernel, kernelBox);
  kernel.addEventListener("ready", ({ detail }) => showAdapter(detail, adapter));
  kernel.addEventListener("state", ({ detail: { state } }) => {
    if (state === "idle") void showMemory(kernel, memory);
    else if (state === "loading") memory.textContent = "";
  });
  setInterval(() => void showMemory(kernel, memory), POLL_MS);
}
