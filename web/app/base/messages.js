/** Messages to the user: short ones on the page, or only for screen readers. */
import { byId, element } from "./dom.js";

const SHOWN_MS = 8000;

/** The region for screen readers. A page that embeds cells has none at first. */
function liveRegion() {
  const id = "announcements";
  const found = byId(id) ?? element("div", { id, role: "status" });
  if (!found.isConnected) {
    found.style.cssText = "position: fixed; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%)";
    document.body.append(found);
  }
  return found;
}

/** Announce `text` to screen readers without showing it. */
export function announce(text) {
  liveRegion().textContent = text;
}

/**
 * Show a message with at most one action. It disappears automatically, unless it is an error or
 * `stays` is set. A message `ofNotebook` is about the open notebook and disappears with it. Returns a
 * function that removes it.
 * @param {string} text
 * @param {{kind?: string, action?: {label: string, run: () => unknown}, stays?: boolean,
 *   ofNotebook?: boolean}} how
 */
export function showMessage(
  text, { kind = "info", action, stays = kind === "error", ofNotebook = false } = {},
) {
  const close = element("button", { type: "button", className: "toast-close" });
  close.setAttribute("aria-label", "Close this message");
  close.innerHTML = '<svg class="icon"><use href="#icon-close"/></svg>';
  const toast = element("div", { className: `toast ${kind}` }, element("p", {}, text));
  toast.classList.toggle("of-notebook", ofNotebook);
  toast.setAttribute("role", kind === "error" ? "alert" : "status");
  let timer;
  const remove = () => {
    clearTimeout(timer);
    toast.remove();
  };
  if (action) {
    const button = element("button", { type: "button" }, action.label);
    button.addEventListener("click", () => {
      remove();
      action.run();
    });
    toast.append(button);
  }
  close.addEventListener("click", remove);
  toast.append(close);
  byId("toasts").append(toast);
  if (!stays) timer = setTimeout(remove, SHOWN_MS);
  return remove;
}

/** Remove the messages about the notebook that was open. */
export function leaveMessages() {
  for (const toast of byId("toasts")?.querySelectorAll(".of-notebook") ?? []) toast.remove();
}
