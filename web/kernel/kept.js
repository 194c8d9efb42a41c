/** What the browser keeps for the next boot: one thing of a kind, by all that decides about it. */

/**
 * Where the thing of a kind (a cache's name) is kept that these sources, texts and buffers, lead
 * to; null where the browser keeps nothing.
 */
export async function openKept(kind, sources) {
  if (!("caches" in self)) return null;
  const digest = await crypto.subtle.digest("SHA-256", await new Blob(sources).arrayBuffer());
  const key = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0"));
  try {
    return new Kept(await caches.open(kind), `/kept/${key.join("")}`);
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

  /** What was kept, or null. */
  async read() {
    const kept = await this.#cache.match(this.#key);
    return kept ? new Uint8Array(await kept.arrayBuffer()) : null;
  }

  /** Keep this, and nothing of other sources. A full disk is no failure. */
  async write(bytes) {
    try {
      await this.clear();
      await this.#cache.put(this.#key, new Response(bytes));
    } catch (error) {
      console.info(`Nothing is kept for the next boot: ${error}`);
    }
  }

  /** Keep nothing of this kind any more. */
  async clear() {
    for (const old of await this.#cache.keys()) await this.#cache.delete(old);
  }
}
