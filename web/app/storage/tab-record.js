/** The records of this tab. A lock on each keeps other tabs from opening it. */

const SHOWN = "browsergpu-record";
// A duplicated tab gets a copy of the session storage, including the other tab's record. A reloaded
// tab also finds this mark, which it set when it was left.
const LEFT = "browsergpu-record-left";
const LOCK = "browsergpu-record ";
/** Time for the previous page of a reload to release its record. */
const LEAVING_MS = 5000;

export class TabRecord {
  /** @type {Map<string, () => void>} */
  #held = new Map();
  #id = "";
  #isCurrent;

  /** `isCurrent()` resolves to whether no other tab has changed the shown record. */
  constructor(isCurrent) {
    this.#isCurrent = isCurrent;
    addEventListener("pagehide", () => {
      sessionStorage.setItem(LEFT, this.#id);
      for (const letGo of this.#held.values()) letGo();
    });
    addEventListener("pageshow", async ({ persisted }) => {
      if (!persisted) return;
      // Restored from the browser's memory: another tab may have the notebook now.
      sessionStorage.removeItem(LEFT);
      this.#held.clear();
      if (!(await this.claim(this.#id)) || !(await this.#isCurrent())) location.reload();
    });
  }

  /**
   * Return the record of this tab before a reload, or null. It is not `mine` if another tab, of
   * which this one is a copy, has it open.
   */
  async resume() {
    const id = sessionStorage.getItem(SHOWN);
    const wasLeft = id !== null && sessionStorage.getItem(LEFT) === id;
    sessionStorage.removeItem(LEFT);
    if (id === null) return null;
    return { id, mine: await this.#lock(id, wasLeft) };
  }

  /** Claim a record. Returns false if another tab has it open. */
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

  /** The record that is shown, to which a reload returns. */
  get id() {
    return this.#id;
  }

  set id(id) {
    this.#id = id;
    sessionStorage.setItem(SHOWN, id);
  }

  /** Release a record to other tabs. */
  release(id) {
    this.#held.get(id)?.();
    this.#held.delete(id);
  }

  has(id) {
    return this.#held.has(id);
  }
}

/** Return the ids of the records that any tab has open. */
export async function openRecords() {
  const { held = [] } = await navigator.locks.query();
  const names = held.map(({ name }) => name ?? "").filter((name) => name.startsWith(LOCK));
  return new Set(names.map((name) => name.slice(LOCK.length)));
}
