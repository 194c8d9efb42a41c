/** Parts of addresses as people wrote them. */

/** Text without its per cent escapes, or as it is where they are wrong. */
export function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
