/** Long printed text: its beginning and its end, until the reader asks for all of it. */
import { element } from "../base/dom.js";
import { terminalNodes } from "./stream-text.js";

const MOST_LINES = 200;
const SHOWN_LINES = 40;

/** The place behind the `count`th line from the beginning, or before it from the end. */
function cut(text, count, { fromEnd = false } = {}) {
  let place = fromEnd ? text.length - 1 : -1;
  for (let n = 0; n < count; n += 1) {
    place = fromEnd ? text.lastIndexOf("\n", place - 1) : text.indexOf("\n", place + 1);
    if (place < 0) return -1;
  }
  return place + 1;
}

/** Show only the beginning and the end in `pre`, which has all of `text`, if that is long. */
export function shorten(pre, text) {
  if (cut(text, MOST_LINES + 1) < 0) return;
  const head = text.slice(0, cut(text, SHOWN_LINES));
  const tail = text.slice(cut(text, SHOWN_LINES, { fromEnd: true }));
  const lines = text.replace(/\n$/, "").split("\n").length - 2 * SHOWN_LINES;
  const button = element("button", { type: "button", className: "link" },
    `Show ${lines.toLocaleString("en")} more lines`);
  button.addEventListener("click", () => {
    pre.replaceChildren(...terminalNodes(text));
    pre.classList.remove("shortened");
    pre.focus();
  });
  pre.classList.add("shortened");
  pre.replaceChildren(...terminalNodes(head), button, "\n", ...terminalNodes(tail));
}
