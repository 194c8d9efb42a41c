/** Saves the notebook shortly after each change, and at once when the page is left. */

const DELAY_MS = 400;

/**
 * `save` stores the present state, `saveAtOnce` does so before it returns. `report` gets
 * "saving", "saved" or "failed" with the error.
 * Returns the function to call after each change.
 */
export function autosave({ save, saveAtOnce, report }) {
  /** @type {number | undefined} */
  let timer;
  let saving = Promise.resolve();

  const now = () => {
    clearTimeout(timer);
    timer = undefined;
    // One after the other: a slow older save must not land on a newer one.
    saving = saving.then(save).then(() => {
      if (timer === undefined) report("saved");
    }, (error) => report("failed", error));
    return saving;
  };

  const leave = () => {
    if (timer === undefined) return;
    // What is asynchronous may not come to its end on a page that is left.
    saveAtOnce();
    now();
  };
  addEventListener("pagehide", leave);
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") leave();
  });

  return () => {
    report("saving");
    clearTimeout(timer);
    timer = setTimeout(now, DELAY_MS);
  };
}
