/** The tabs beside the cells. One panel is shown; each fills itself when it is. */

const STEPS = { ArrowRight: 1, ArrowLeft: -1 };

/**
 * Connect the tabs in `list` with the panels that they control. Calls `onShow(name)` when a panel is
 * shown, by its `data-panel`. Returns the name of the shown one.
 */
export function sideTabs(list, onShow) {
  const tabs = [...list.querySelectorAll('[role="tab"]')];
  const panelOf = (tab) => list.parentElement.querySelector(`:scope > #${tab.getAttribute("aria-controls")}`);
  const select = (chosen) => {
    for (const tab of tabs) {
      const isChosen = tab === chosen;
      tab.setAttribute("aria-selected", String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
      panelOf(tab).hidden = !isChosen;
    }
    onShow(chosen.dataset.panel);
  };
  list.addEventListener("click", ({ target }) => {
    const tab = target.closest('[role="tab"]');
    if (tab) select(tab);
  });
  list.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    if (!step) return;
    event.preventDefault();
    const next = tabs[(tabs.indexOf(event.target) + step + tabs.length) % tabs.length];
    next.focus();
    select(next);
  });
  return () => tabs.find((tab) => tab.getAttribute("aria-selected") === "true").dataset.panel;
}
