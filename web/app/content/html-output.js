/** HTML outputs of cells. Active content runs in a frame if the reader trusts the notebook. */
import { activeFrame } from "./active-frame.js";
import { element } from "../base/dom.js";
import { foreignBox } from "./foreign.js";
import { safeParts } from "./sanitize.js";

/**
 * Return a box with the output. `own` means that the user's code made it in this session.
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

/** Whether the remaining content is visible. */
function hasContent(fragment) {
  return fragment.textContent.trim() !== "" || fragment.querySelector("img, svg") !== null;
}
