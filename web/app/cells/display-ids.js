/** Displays that Python can update later by id. Each kernel has its own ids. */

/** @typedef {(data: object, metadata: object) => boolean} Change */
/** @type {WeakMap<object, Map<string, Change[]>>} */
const displays = new WeakMap();

function displaysOf(kernel) {
  const found = displays.get(kernel) ?? new Map();
  displays.set(kernel, found);
  return found;
}

/** `change` updates the data of a display of `kernel`. It returns false once the display is gone. */
export function rememberDisplay(kernel, id, change) {
  const known = displaysOf(kernel);
  known.set(id, [...(known.get(id) ?? []), change]);
}

/** Update the data of all displays of `kernel` with this id. */
export function updateDisplays(kernel, id, data, metadata) {
  const known = displaysOf(kernel);
  const there = (known.get(id) ?? []).filter((change) => change(data, metadata));
  if (there.length > 0) known.set(id, there);
  else known.delete(id);
}
