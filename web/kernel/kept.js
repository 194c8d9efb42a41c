/** The browser's cache for the next boot: one entry per kind, keyed by all its inputs. */
import { addressOf } from "./addresses.js";

/**
 * Return the cache entry of a kind (a cache's name) for these sources, texts and buffers. Returns
 * null if the browser stores nothing.
 */
export async function openKept(kind, sources) {
  if (!("caches" in self)) return null;
  const digest = await crypto.subtle.digest("SHA-256", await new Blob(sources).arrayBuffer());
  const key = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0"));
  try {
    // A whole address: in a page of another site, this worker has none that paths can refer to.
    const { href } = new URL(`/kept/${key.join("")}`, addressOf(""));
    return new Kept(await caches.open(kind), href);
  } catch {
    return null; // as in some browsers' private windows
  }
}

class Kept {
  #cache;
  #key;

  constructor(cache, key) {
    this.#cache = cache;
    this.#key = key;
  }

  /** Return the cached bytes, or null. */
  async read() {
    const kept = await this.#cache.match(this.#key);
    return kept ? new Uint8Array(await kept.arrayBuffer()) : null;
  }

  /** Store these bytes and drop those of other sources. A full disk is not an error. */
  async write(bytes) {
    try {
      await this.clear();
      await this.#cache.put(this.#key, new Response(bytes));
    } catch (error) {
      console.info(`Nothing is kept for the next boot: ${error}`);
    }
  }

  /** Drop everything of this kind. */
  async clear() {
    for (const old of await this.#cache.keys()) await this.#cache.delete(old);
  }
}
