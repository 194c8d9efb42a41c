/** A panel that opens above the status bar where the window has no room for it beside the cells. */

/**
 * Make `button`, in the page's footer, open and close `panel`. Escape closes it, and so does work
 * elsewhere on the page. In wide windows, styles hide the button and always show the panel.
 * @param {HTMLElement} button
 * @param {HTMLElement} panel
 */
export function drawer(button, panel) {
  const isOpen = () => panel.classList.contains("open");
  const set = (open) => {
    panel.classList.toggle("open", open);
    button.setAttribute("aria-expanded", String(open));
  };
  button.addEventListener("click", () => {
    panel.style.bottom = `${button.closest("footer")?.offsetHeight ?? 0}px`;
    set(!isOpen());
    /** @type {HTMLElement | null} */
    const tab = isOpen() ? panel.querySelector('[aria-selected="true"]') : null;
    tab?.focus();
  });
  panel.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape" || !isOpen()) return;
    set(false);
    button.focus();
  });
  addEventListener("focusin", ({ target }) => {
    if (isOpen() && target instanceof Node && !panel.contains(target) && target !== button) set(false);
  });
}
