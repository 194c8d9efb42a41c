/** Keeps the focused cell in view while runs add outputs. */

const GAP = 16;
const PAGING = ["PageUp", "PageDown", "Home", "End", " "];

/** Heights of the window's parts that the page's bars cover at the top and bottom. */
export function covered() {
  const header = document.querySelector("#app .masthead")?.getBoundingClientRect();
  const footer = document.querySelector("#app .status")?.getBoundingClientRect();
  return {
    top: Math.max(0, header?.bottom ?? 0) + GAP,
    bottom: Math.max(0, innerHeight - (footer?.top ?? innerHeight)) + GAP,
  };
}

/**
 * Keep the focused cell of `root` in view while outputs arrive and grow. The cursor has priority
 * over the end of a new output. After the user scrolls away, do nothing.
 */
export function keepInView(root) {
  let following = true;
  // Outputs may arrive between a scroll and its event, so only the user's own scrolling counts.
  let byHand = false;
  /** @type {HTMLElement | null} */
  let fresh = null;

  const focused = () => {
    // A picture that is zoomed stays below the pointer.
    if (document.activeElement?.matches(".picture-box")) return null;
    const cell = document.activeElement?.closest(".cell");
    return cell && root.contains(cell) ? cell : null;
  };
  const place = (cell) => {
    const cursor = cell.querySelector(".cm-focused .cm-cursor-primary");
    return (cursor ?? cell).getBoundingClientRect();
  };
  const room = () => {
    const { top, bottom } = covered();
    return { top, bottom: innerHeight - bottom };
  };

  const follow = () => {
    const cell = focused();
    if (!cell || !following) return;
    const { top, bottom } = place(cell);
    const { top: first, bottom: last } = room();
    const beside = fresh === cell || fresh?.nextElementSibling === cell;
    const end = fresh && beside ? Math.max(bottom, fresh.getBoundingClientRect().bottom) : bottom;
    // Not so far that the focused position leaves at the top.
    const down = Math.min(Math.max(0, end - last), Math.max(0, top - first));
    const up = Math.min(0, top - first);
    if (!down && !up) return;
    byHand = false;
    scrollBy({ top: down || up, behavior: "instant" });
  };

  addEventListener("scroll", () => {
    const cell = focused();
    if (!cell || !byHand) return;
    const { top, bottom } = place(cell);
    const { top: first, bottom: last } = room();
    following = bottom > first && top < last;
  }, { passive: true });
  /** @param {any} event */
  const scrolls = ({ type, key, target }) => {
    if (type === "keydown" ? PAGING.includes(key)
      : type !== "pointerdown" || target === document.documentElement) byHand = true;
  };
  for (const type of ["wheel", "touchmove", "pointerdown", "keydown"]) {
    addEventListener(type, scrolls, { passive: true });
  }
  root.addEventListener("focusin", () => {
    following = true;
  });
  new MutationObserver((changes) => {
    for (const { target } of changes) {
      const cell = /** @type {HTMLElement} */ (target);
      if (cell.dataset.state === "running") fresh = cell;
    }
  }).observe(root, { attributes: true, subtree: true, attributeFilter: ["data-state"] });
  new ResizeObserver(follow).observe(root);
}
