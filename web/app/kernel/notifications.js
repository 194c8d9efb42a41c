/** Notifications of long runs that end while the user looks elsewhere. */
import { formatSeconds } from "../base/dom.js";
import { settings } from "../base/settings.js";

const LONG_S = 10;

/** Ask the browser to allow notifications, on the user's click. Resolves to why not, or "". */
export async function allowNotifications() {
  if (!("Notification" in globalThis)) return "This browser has no notifications.";
  const answer = await Notification.requestPermission();
  return answer === "granted" ? ""
    : "The browser does not allow notifications of this page. Its settings for this site say so.";
}

/** Notify of long runs of `client`, until it has no more code to run. `title()` names its notebook. */
export function notifyOfLongRuns(client, title) {
  let begun = 0;
  let failed = false;
  client.addEventListener("state", ({ detail: { state } }) => {
    if (state === "busy" && !begun) begun = performance.now();
    if (state === "dead" || state === "loading") begun = 0;
  });
  client.addEventListener("ran", ({ detail: { ok } }) => {
    failed ||= !ok;
    // The next cell of the run starts after this event.
    setTimeout(() => {
      if (client.busyOrQueued || !begun) return;
      const seconds = (performance.now() - begun) / 1000;
      if (seconds >= LONG_S) notify(title(), failed, seconds);
      begun = 0;
      failed = false;
    });
  });
}

function notify(title, failed, seconds) {
  const isSeen = document.visibilityState === "visible" && document.hasFocus();
  if (isSeen || !settings.values.notifies || Notification.permission !== "granted") return;
  const body = failed ? `Failed after ${formatSeconds(seconds)}.` : `Ran in ${formatSeconds(seconds)}.`;
  const shown = new Notification(title, { body, icon: "favicon.svg" });
  shown.onclick = () => window.focus();
}
