/** Position and keys of a menu that a button opens by `popovertarget`. */

const GAP = 4;
const STEPS = { ArrowDown: 1, ArrowUp: -1 };

/** @param {HTMLElement} button @param {HTMLElement} menu */
export function menuOf(button, menu) {
  menu.addEventListener("beforetoggle", (event) => {
    if (/** @type {ToggleEvent} */ (event).newState !== "open") return;
    const { left, right, bottom } = button.getBoundingClientRect();
    const isLeft = left < innerWidth / 2;
    menu.style.top = `${bottom + GAP}px`;
    menu.style.left = isLeft ? `${left}px` : "auto";
    menu.style.right = isLeft ? "auto" : `${document.documentElement.clientWidth - right}px`;
  });
  menu.addEventListener("keydown", (event) => {
    const items = [...menu.querySelectorAll("button")].filter((one) => one.checkVisibility());
    const index = items.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement));
    const ends = { Home: 0, End: items.length - 1 };
    const next = ends[event.key] ?? (index + STEPS[event.key] + items.length) % items.length;
    if (Number.isNaN(next)) return;
    event.preventDefault();
    items[next].focus();
  });
  menu.addEventListener("click", () => menu.hidePopover());
  menu.addEventListener("focusout", ({ relatedTarget }) => {
    if (relatedTarget && !menu.contains(/** @type {Node} */ (relatedTarget))) menu.hidePopover();
  });
}
