/** Reads text from a stream of bytes, up to a maximum length. */

const MOST_BYTES = 64 * 1024 * 1024;

export class TooLong extends Error {}

/** @param {ReadableStream<Uint8Array>} stream */
export async function readText(stream, most = MOST_BYTES) {
  const parts = [];
  let bytes = 0;
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes += value.length;
    if (bytes > most) {
      await reader.cancel();
      throw new TooLong(`it has more than ${most / 1024 / 1024} MiB`);
    }
    parts.push(value);
  }
  return new Blob(parts).text();
}
