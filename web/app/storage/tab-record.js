/** Which records are this tab's. No two tabs have the same one open: each is held by a lock. */

const SHOWN = "browsergpu-record";
// A duplicated or opened tab gets a copy of the session's storage, and with it the other tab's record;
// a tab that is loaded anew finds, beside it, that it was left.
const LEFT = "browsergpu-record-left";
const LOCK = "browsergpu-record ";
/** How long the page that a reload has left may take to let its record go. */
const LEAVING_MS = 5000;

export class TabRecord {
  /** @type {Map<string, () => void>} */
  #held = new Map();
  #id = "";

  constructor() {
    addEventListener("pagehide", () => {
      sessionStorage.setItem(LEFT, this.#id);
      for (const letGo of this.#held.values()) letGo();
    });
    addEventListener("pageshow", async ({ persisted }) => {
      if (!persisted) return;
      // Back from the browser's memory: another tab may have taken the notebook meanwhile.
      sessionStorage.removeItem(LEFT);
      this.#held.clear();
      if (!(await this.claim(this.#id))) location.reload();
    });
  }

  /**
   * The record that this tab showed before it was loaded anew, or null. Not `mine` is one that
   * another tab has open, whose copy this tab is.
   */
  async resume() {
    const id = sessionStorage.getItem(SHOWN);
    const wasLeft = id !== null && sessionStorage.getItem(LEFT) === id;
    sessionStorage.removeItem(LEFT);
    if (id === null) return null;
    return { id, mine: await this.#lock(id, wasLeft) };
  }

  /** Take a record; false where another tab has it open. */
  claim(id) {
    return this.#held.has(id) ? Promise.resolve(true) : this.#lock(id, false);
  }

  /** @returns {Promise<boolean>} */
  #lock(id, patiently) {
    const how = patiently ? { signal: AbortSignal.timeout(LEAVING_MS) } : { ifAvailable: true };
    return new Promise((resolve) => {
      const held = (lock) => {
        resolve(lock !== null);
        if (lock) return new Promise((letGo) => this.#held.set(id, () => letGo(null)));
      };
      navigator.locks.request(LOCK + id, how, held).catch(() => resolve(false));
    });
  }

  /** The record that is shown, which a reload comes back to. */
  get id() {
    return this.#id;
  }

  set id(id) {
    this.#id = id;
    sessionStorage.setItem(SHOWN, id);
  }

  /** Let other tabs have a record. */
  release(id) {
    this.#held.get(id)?.();
    this.#held.delete(id);
  }

  has(id) {
    return this.#held.has(id);
  }
}

/** The ids of the records that any tab has open. */
export async function openRecords() {
  const { held = [] } = await navigator.locks.query();
  const names = held.map(({ name }) => name ?? "").filter((name) => name.startsWith(LOCK));
  return new Set(names.map((name) => name.slice(LOCK.length)));
}
