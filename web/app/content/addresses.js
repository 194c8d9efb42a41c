/** Parts of addresses as the author wrote them. */

/** Decode per cent escapes, or return the text unchanged if they are invalid. */
export function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
