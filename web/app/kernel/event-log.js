/** The events of a kernel since its start, as many as a listener needs that begins to listen. */

/** How many events of each type are kept. */
const LIMITS = { boot: 1, ready: 1, ran: 32, gpu: 64, memory: 120, outline: 1 };

export class EventLog {
  /** @type {{type: string, detail: any}[]} */
  #events = [];

  /** Listen to `kernel`. The start of its worker empties the log. */
  constructor(kernel) {
    kernel.addEventListener("state", ({ detail: { state } }) => {
      if (state === "loading") this.#events = [];
    });
    for (const type of Object.keys(LIMITS)) {
      kernel.addEventListener(type, ({ detail }) => this.#note(type, detail));
    }
  }

  #note(type, detail) {
    const same = this.#events.filter((event) => event.type === type);
    // An outline has only the attributes that were not reported before.
    const whole = type === "outline" && same.length > 0
      ? { ...detail, members: { ...same[0].detail.members, ...detail.members } } : detail;
    if (same.length === LIMITS[type]) this.#events.splice(this.#events.indexOf(same[0]), 1);
    this.#events.push({ type, detail: whole });
  }

  get events() {
    return [...this.#events];
  }
}
