/** The progress bar while the kernel starts. */
import { formatBytes } from "../base/dom.js";

/** Update the bar with the progress of `kernel`. */
export function showBoot(kernel, { box, bar, stage, bytes }) {
  kernel.addEventListener("state", ({ detail: { state } }) => {
    box.hidden = state !== "loading";
    if (state === "loading") {
      bar.removeAttribute("value");
      stage.textContent = "Starting the kernel";
      bytes.textContent = "";
    }
  });
  kernel.addEventListener("boot", ({ detail }) => {
    stage.textContent = detail.stage;
    if (detail.total) {
      bar.max = detail.total;
      bar.value = detail.loaded;
      bytes.textContent = `${formatBytes(detail.loaded)} of ${formatBytes(detail.total)}`;
    }
  });
}
