/** JSON whose keys stay in their order: JavaScript puts those that are whole numbers first. */

// So such a key has a mark while it is in an object: a character that no key begins with.
const KEYS = /([{,]\s*")(0|[1-9]\d*)("\s*:)/g; // In a string, a quote would have a backslash.
const MARKED = /"\\u0000(\d+)":/g;

/** As JSON.parse, but for the marks. */
export function parseOrdered(text) {
  return JSON.parse(text.replace(KEYS, "$1\\u0000$2$3"));
}

/** The text of what `parseOrdered` gave, or of what has no marks; indented by one. */
export function formatOrdered(value) {
  return JSON.stringify(value, null, 1).replace(MARKED, '"$1":');
}

/** A part of what `parseOrdered` gave as JSON.parse gives it, for who looks keys up. */
export function withoutMarks(value) {
  return JSON.parse(formatOrdered(value));
}
