/** JSON that keeps the order of keys, although JavaScript puts integer keys first. */

// Integer keys of objects are therefore marked with a character that no key begins with.
const KEYS = /([{,]\s*")(0|[1-9]\d*)("\s*:)/g; // In a string, a quote would have a backslash.
const MARKED = /"\\u0000(\d+)":/g;

/** Parse like JSON.parse, with marked keys. */
export function parseOrdered(text) {
  return JSON.parse(text.replace(KEYS, "$1\\u0000$2$3"));
}

/** Format the result of `parseOrdered`, or unmarked data, indented by one. */
export function formatOrdered(value) {
  return JSON.stringify(value, null, 1).replace(MARKED, '"$1":');
}

/** Convert a part of `parseOrdered`'s result to the result of JSON.parse, for looking up keys. */
export function withoutMarks(value) {
  return JSON.parse(formatOrdered(value));
}
