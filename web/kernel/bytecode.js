/** Keeps the shell's compiled Python modules in the browser: the next boot is faster. */

const NAME = "browsergpu-bytecode";

/**
 * Where the modules are kept that `sources`, all that decides about them, leads to; null where the
 * browser keeps nothing.
 */
export async function openBytecode(sources) {
  if (!("caches" in self)) return null;
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(sources));
  const key = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0"));
  return new Bytecode(await caches.open(NAME), `/bytecode/${key.join("")}`);
}

class Bytecode {
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
  async write(archive) {
    try {
      for (const old of await this.#cache.keys()) await this.#cache.delete(old);
      await this.#cache.put(this.#key, new Response(archive));
    } catch (error) {
      console.info(`Python's compiled modules are not kept: ${error}`);
    }
  }
}
