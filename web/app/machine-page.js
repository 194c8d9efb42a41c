/** `/?notebook=none`: only the kernel and the canvas, for programs that control the page. */
import { fromTemplate, refs } from "./base/dom.js";
import { KernelClient } from "./kernel/kernel-client.js";
import { machineApi } from "./kernel/machine.js";
import { pictureIn } from "./base/picture.js";
import { pointerInput, usePointerInput } from "./cells/pointer-input.js";
import { showKernelState } from "./kernel/status.js";

const MAX_LOG = 200_000;

export function openPage(app) {
  const page = fromTemplate("machine-page");
  const found = refs(page);
  app.replaceChildren(page);
  const kernel = new KernelClient();
  showKernelState(kernel, found.kernel);
  const log = (message) => {
    if (message.type === "picture") draw(message);
    const text = message.type === "stream" ? message.text
      : message.type === "display" ? `${message.data["text/plain"]}\n` : "";
    if (!text) return;
    found.log.append(text);
    if (found.log.textContent.length > MAX_LOG) {
      found.log.textContent = found.log.textContent.slice(-MAX_LOG / 2);
    }
  };
  const place = { receive: log, error: ({ full }) => found.log.append(full) };
  const draw = pictureIn(found["canvas-frame"], (picture) => {
    usePointerInput(picture, (row) => pointerInput(kernel).send(picture, row, place));
  });
  kernel.start();
  globalThis.browsergpu = machineApi(kernel, { onMessage: log });
}
