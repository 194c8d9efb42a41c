/** HTML that a cell put out: what acts in it does so in a frame, for whom the reader trusts. */
import { activeFrame } from "./active-frame.js";
import { element } from "../base/dom.js";
import { foreignBox } from "./foreign.js";
import { safeParts } from "./sanitize.js";

/**
 * A box with the output. `own`: it was made in this session, by code that the person ran.
 * @param {string} html
 * @param {{own: boolean, trust: import("./trust.js").Trust}} whose
 */
export function htmlOutput(html, { own, trust }) {
  const { fragment, wouldAct } = safeParts(html);
  if (!wouldAct) return foreignBox("html", fragment);
  if (own || trust.isGiven) return activeFrame(html);
  const button = element("button", {
    type: "button", title: "For all outputs of this notebook, also when it is opened again",
  }, "Show active output");
  button.addEventListener("click", () => {
    button.closest("[tabindex]")?.focus();
    trust.give();
  });
  const note = element("p", { className: "inert-note" },
    "This output has scripts or frames, which were not run here.", button);
  const box = element("div", {}, note);
  if (hasContent(fragment)) box.append(foreignBox("html", fragment));
  trust.whenGiven(() => box.replaceChildren(activeFrame(html)));
  return box;
}

/** Whether there is something to see in what was left. */
function hasContent(fragment) {
  return fragment.textContent.trim() !== "" || fragment.querySelector("img, svg") !== null;
}
