/** Small helpers for building the page. */

/**
 * Return the page's element with this id, which index.html has in its body. An element of the same
 * id in a notebook's output comes later in the document.
 */
export function byId(id) {
  return /** @type {any} */ (document.querySelector(`body > #${id}`));
}

/** Return a copy of the element in `<template id=…>`. */
export function fromTemplate(id) {
  return byId(id).content.firstElementChild.cloneNode(true);
}

/** Return the elements with `data-ref` below `root`, by name. */
export function refs(root) {
  const found = {};
  for (const element of root.querySelectorAll("[data-ref]")) found[element.dataset.ref] = element;
  return found;
}

/** Create an element with properties and children. Strings become text, never markup. */
export function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/** Format bytes: "512 B", "1.5 MB". */
export function formatBytes(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  const units = ["kB", "MB", "GB", "TB"];
  let value = bytes / 1000;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value.toFixed(value < 10 ? 1 : 0)} ${units[unit]}`;
}

/** Format seconds: "3 ms", "1.25 s", "2 min 5 s". */
export function formatSeconds(seconds) {
  if (seconds < 0.0995) return `${Math.max(1, Math.round(seconds * 1000))} ms`;
  if (seconds < 59.95) return `${seconds.toFixed(seconds < 9.995 ? 2 : 1)} s`;
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
