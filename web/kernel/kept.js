/**
 * Files that speed up a boot: one per kind, keyed by all its inputs. The site may come with them
 * (tools/snapshot makes them). The browser stores them for the next boot.
 */
import { addressOf } from "./addresses.js";

/** Return the key of these sources, texts and buffers. */
export async function keyOf(sources) {
  const digest = await crypto.subtle.digest("SHA-256", await new Blob(sources).arrayBuffer());
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Return the name of the site's file, compressed with gzip. Hosts do not expand it by its name. */
export const siteName = (kind, key) => `${kind}-${key}.bin`;

/**
 * Return the file of a kind (a cache's name) for these sources. `onSite` lists the names of the
 * site's files.
 */
export async function openKept(kind, sources, onSite) {
  const key = await keyOf(sources);
  // A whole address: in a page of another site, this worker has none that paths can refer to.
  const { href } = new URL(`/kept/${key}`, addressOf(""));
  const name = siteName(kind, key);
  const isOnSite = onSite.includes(name);
  if (!isOnSite && onSite.some((other) => other.startsWith(`${kind}-`))) {
    console.info(`The site's ${kind} is for other files or another browser`);
  }
  return new Kept(await openCache(kind), href, isOnSite ? name : null);
}

/** Return the browser's cache, or null if it stores nothing, as in some private windows. */
async function openCache(kind) {
  try {
    return "caches" in globalThis ? await caches.open(kind) : null;
  } catch {
    return null;
  }
}

class Kept {
  #cache;
  #key;
  #siteName;

  constructor(cache, key, siteName) {
    this.#cache = cache;
    this.#key = key;
    this.#siteName = siteName;
  }

  /** Whether the browser can store the file. */
  get canStore() {
    return this.#cache !== null;
  }

  /** Whether the site has the file. */
  get isOnSite() {
    return this.#siteName !== null;
  }

  /** Whether the browser has stored the file. */
  async isStored() {
    return Boolean(await this.#cache?.match(this.#key));
  }

  /** Return the bytes from the browser's cache or the site, or null. */
  async read() {
    const stored = await this.#cache?.match(this.#key);
    if (stored) return new Uint8Array(await stored.arrayBuffer());
    if (!this.#siteName) return null;
    try {
      return new Uint8Array(await (await this.#fromSite()).arrayBuffer());
    } catch (error) {
      console.info(`The site's ${this.#siteName} cannot be used: ${error}`);
      this.#siteName = null;
      return null;
    }
  }

  /** Store these bytes and drop those of other sources. A full disk is not an error. */
  async write(bytes) {
    await this.#store(() => new Response(bytes));
  }

  /** Store the site's file. Returns false if the site has none that can be used. */
  async storeSites() {
    if (this.isOnSite) await this.#store(() => this.#fromSite());
    return this.isOnSite;
  }

  /** Do not use again what `read()` returned: the browser's file, or else the site's. */
  async drop() {
    if (await this.isStored()) await this.#cache.delete(this.#key);
    else this.#siteName = null;
  }

  async #store(respond) {
    try {
      const response = await respond();
      for (const old of await this.#cache.keys()) await this.#cache.delete(old);
      await this.#cache.put(this.#key, response);
    } catch (error) {
      console.info(`Nothing is kept for the next boot: ${error}`);
    }
  }

  /** Return a response with the expanded bytes. gzip has a checksum, so reading detects damage. */
  async #fromSite() {
    const response = await fetch(addressOf(`start/${this.#siteName}`));
    if (!response.ok || !response.body) throw new Error(`HTTP ${response.status}`);
    return new Response(response.body.pipeThrough(new DecompressionStream("gzip")));
  }
}
