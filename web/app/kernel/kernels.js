/** The kernels of this tab's notebooks: one for each notebook that ran code. */
import { KernelClient } from "./kernel-client.js";
import { ShownKernel } from "./shown-kernel.js";

/** Idle kernels of notebooks that are not shown. Before more are kept, the user is asked. */
const MOST_IDLE = 3;

/** Whether nothing would be lost if another notebook took this kernel over. */
const isUnused = (client) => client.state !== "dead" && !client.hasRun && !client.busyOrQueued;

/**
 * Notebooks are named by the ids of their records. Events:
 *
 * - "change": the kernel of a notebook began, ended, or changed its state
 * - "ended" (the id): a notebook has no kernel any more
 */
export class Kernels extends EventTarget {
  /** @type {Map<string, KernelClient>} by notebook, the last shown last */
  #clients = new Map();
  #prepare;
  #mayEnd;
  #id = "";
  /** @type {WeakSet<KernelClient>} idle kernels that the user wanted to keep */
  #wanted = new WeakSet();
  /** Whether the next notebook takes the kernel over; so does the first one of the page. */
  #takesOver = true;
  /** The kernel of the notebook that is shown. */
  shown = new ShownKernel();

  /**
   * `prepare(client)` is called before a kernel starts. `mayEnd(id, variables)` asks whether the
   * idle kernel of a notebook with so many variables may end; it resolves to a boolean.
   */
  constructor({ prepare, mayEnd }) {
    super();
    this.#prepare = prepare;
    this.#mayEnd = mayEnd;
  }

  /** Start the kernel of the first notebook, which is not known yet. */
  start() {
    this.shown.show(this.#add(""));
  }

  #add(id) {
    const client = new KernelClient();
    this.shown.listenTo(client);
    this.#prepare(client);
    client.addEventListener("state", () => this.changed());
    this.#clients.set(id, client);
    client.start();
    return client;
  }

  /** Report a change, also of a notebook's title. */
  changed() {
    this.dispatchEvent(new Event("change"));
  }

  /** Let the next notebook take over the kernel of the one that is shown. */
  handOver() {
    this.#takesOver = true;
  }

  /** Show the kernel of a notebook, started if it has none, and return it. */
  show(id) {
    const before = this.#id;
    const leaving = this.#clients.get(before);
    let client = this.#clients.get(id);
    if (!client && leaving && (this.#takesOver || isUnused(leaving))) {
      client = leaving;
      this.#clients.delete(before);
      if (before) this.dispatchEvent(new CustomEvent("ended", { detail: before }));
    }
    this.#takesOver = false;
    client ??= this.#add(id);
    this.#id = id;
    this.#clients.delete(id);
    this.#clients.set(id, client);
    this.#wanted.delete(client);
    this.shown.show(client);
    this.changed();
    if (leaving?.state === "dead") this.end(before);
    void this.#limit();
    return client;
  }

  /** Return the notebook of a kernel. */
  idOf(client) {
    return [...this.#clients].find(([, one]) => one === client)?.[0] ?? "";
  }

  /** Whether a notebook has a kernel. */
  has(id) {
    return this.#clients.has(id);
  }

  /** Return the state of a notebook's kernel, null if it has none. */
  stateOf(id) {
    return this.#clients.get(id)?.state ?? null;
  }

  /** The notebooks that are not shown and have a kernel, the last shown last. */
  get others() {
    return [...this.#clients.keys()].filter((id) => id !== this.#id);
  }

  /** Whether any kernel runs code or has code to run. */
  get areBusy() {
    return [...this.#clients.values()].some((client) => client.busyOrQueued);
  }

  /** Resolves when a notebook has no kernel. */
  async ended(id) {
    while (this.has(id)) {
      await new Promise((resolve) => {
        this.addEventListener("ended", resolve, { once: true });
      });
    }
  }

  /** End the kernel of a notebook that is not shown. */
  end(id) {
    const client = this.#clients.get(id);
    if (!client || id === this.#id) return;
    this.#clients.delete(id);
    client.end();
    this.changed();
    this.dispatchEvent(new CustomEvent("ended", { detail: id }));
  }

  /** End the idle kernels that were shown longest ago, if there are too many. */
  async #limit() {
    const idle = this.others.filter((id) => {
      const client = this.#clients.get(id);
      return client?.state === "idle" && !client.busyOrQueued && !this.#wanted.has(client);
    });
    for (const id of idle.slice(0, Math.max(0, idle.length - MOST_IDLE))) {
      const client = this.#clients.get(id);
      const variables = await client?.variables();
      // Meanwhile it may have ended, been shown, or begun to run.
      if (!client || !variables || !this.#mayBeEnded(id, client)) continue;
      const ends = variables.length === 0 || await this.#mayEnd(id, variables.length);
      if (ends && this.#mayBeEnded(id, client)) this.end(id);
      else this.#wanted.add(client);
    }
  }

  #mayBeEnded(id, client) {
    return this.#clients.get(id) === client && id !== this.#id && !client.busyOrQueued;
  }
}
