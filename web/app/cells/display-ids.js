/** Displays that Python may change later, by the ids that it gave them. */

/** @typedef {(data: object, metadata: object) => boolean} Change */
/** @type {Map<string, Change[]>} */
const displays = new Map();

/** `change` shows other data in a display; it gives false once the display is gone. */
export function rememberDisplay(id, change) {
  displays.set(id, [...(displays.get(id) ?? []), change]);
}

/** Show other data wherever the id stands. */
export function updateDisplays(id, data, metadata) {
  const there = (displays.get(id) ?? []).filter((change) => change(data, metadata));
  if (there.length > 0) displays.set(id, there);
  else displays.delete(id);
}
