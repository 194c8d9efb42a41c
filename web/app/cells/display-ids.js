/** Displays that Python can update later by id. */

/** @typedef {(data: object, metadata: object) => boolean} Change */
/** @type {Map<string, Change[]>} */
const displays = new Map();

/** `change` updates a display's data. It returns false once the display is gone. */
export function rememberDisplay(id, change) {
  displays.set(id, [...(displays.get(id) ?? []), change]);
}

/** Update the data of all displays with this id. */
export function updateDisplays(id, data, metadata) {
  const there = (displays.get(id) ?? []).filter((change) => change(data, metadata));
  if (there.length > 0) displays.set(id, there);
  else displays.delete(id);
}
