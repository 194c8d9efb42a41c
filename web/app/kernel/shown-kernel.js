/** The kernel of the notebook that is shown, for everything on the page that shows one kernel. */
import { EventLog } from "./event-log.js";

/** @typedef {import("./kernel-client.js").KernelClient} KernelClient */

/** The events that are passed on. Widgets and files listen to their own kernel. */
const PASSED = [
  "state", "boot", "ready", "loading", "unresponsive", "ran", "gpu", "memory", "outline",
];

/**
 * Has the events and methods of a KernelClient. When another kernel is shown, listeners get the
 * event "change", and the kernel's events from its start, beginning with the state "loading".
 */
export class ShownKernel extends EventTarget {
  /** @type {KernelClient | null} */
  #client = null;
  /** @type {WeakMap<KernelClient, EventLog>} */
  #logs = new WeakMap();

  /** The kernel that is shown. There is none before Kernels starts one. */
  get client() {
    return /** @type {KernelClient} */ (this.#client);
  }

  /** Pass on the events of `client` while it is shown. Call it before the client starts. */
  listenTo(client) {
    this.#logs.set(client, new EventLog(client));
    for (const type of PASSED) {
      client.addEventListener(type, ({ detail }) => {
        if (client === this.#client) this.#emit(type, detail);
      });
    }
  }

  /** Show another kernel, to which `listenTo` listens. */
  show(client) {
    if (client === this.#client) return;
    this.#client = client;
    this.#emit("change", null);
    this.#emit("state", { state: "loading", message: "" });
    for (const { type, detail } of this.#logs.get(client)?.events ?? []) this.#emit(type, detail);
    const { state, message } = client;
    if (state !== "loading") this.#emit("state", { state, message });
  }

  get state() {
    return this.#client?.state ?? "dead"; // before the first kernel
  }

  get ready() {
    return this.client.ready;
  }

  get hasRun() {
    return this.client.hasRun;
  }

  run(request) {
    return this.client.run(request);
  }

  restart() {
    this.client.restart();
  }

  interrupt() {
    this.client.interrupt();
  }

  complete(before, after) {
    return this.#ask((client) => client.complete(before, after));
  }

  describe(before, after) {
    return this.#ask((client) => client.describe(before, after));
  }

  status() {
    return this.#ask((client) => client.status());
  }

  variables() {
    return this.#ask((client) => client.variables());
  }

  arrays() {
    return this.#ask((client) => client.arrays());
  }

  /** Return the kernel's answer, null if another kernel is shown by then. */
  async #ask(question) {
    const { client } = this;
    const answer = await question(client);
    return client === this.#client ? answer : null;
  }

  /** @param {string} type @param {unknown} detail */
  #emit(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
