/** Arrow keys within toolbars. Each of the masthead's toolbars is one stop of the Tab key. */

const STEPS = { ArrowRight: 1, ArrowLeft: -1 };

const isThere = (button) => !button.disabled && button.offsetParent !== null;
const buttonsOf = (toolbar) => [...toolbar.querySelectorAll("button")].filter(isThere);

/** Listen for all toolbars of `page`. */
export function toolbarKeys(page) {
  page.addEventListener("keydown", (event) => {
    const toolbar = event.target.closest('[role="toolbar"]');
    if (!toolbar || !event.target.matches("button")) return;
    const buttons = buttonsOf(toolbar);
    const index = buttons.indexOf(event.target);
    const ends = { Home: 0, End: buttons.length - 1 };
    const next = ends[event.key] ?? (index + STEPS[event.key] + buttons.length) % buttons.length;
    if (Number.isNaN(next)) return;
    event.preventDefault();
    buttons[next].focus();
  });
  for (const toolbar of page.querySelectorAll('.masthead [role="toolbar"]')) oneStop(toolbar);
}

function oneStop(toolbar) {
  const stopAt = (stop) => {
    for (const button of toolbar.querySelectorAll("button")) button.tabIndex = button === stop ? 0 : -1;
  };
  const first = () => stopAt(toolbar.querySelector("button:not(:disabled)"));
  toolbar.addEventListener("focusin", ({ target }) => stopAt(target));
  // A disabled button cannot be the stop, and a new button has no `tabIndex` yet.
  new MutationObserver(() => {
    if (!toolbar.contains(document.activeElement)) first();
  }).observe(toolbar, { attributes: true, attributeFilter: ["disabled"], childList: true, subtree: true });
  first();
}
