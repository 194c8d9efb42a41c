/** The page's side of the kernel: one worker, one queue, one interrupt, one restart. */
import { ANSWER_BYTES, giveAnswer } from "../../kernel/answers.js";
import { SHARED_BYTES, askForOutput, raiseInterrupt } from "../../kernel/interruption.js";
import { MAIL_BYTES } from "../../kernel/mailbox.js";
import { screenNow } from "../base/screen.js";
import { moduleWorker } from "./module-worker.js";
import { makeSnapshot } from "./snapshot.js";

/** After this time without an answer, Python counts as computing rather than waiting. */
const WAITING_ANSWER_MS = 200;
/** After this time, the page reports that the kernel does not react. */
const REACTION_MS = 4000;
const ANSWER_MS = 15_000;
/** Interval of the requests for output that Python buffers. */
const OUTPUT_MS = 100;
const NOT_RUNNING = "The kernel is not running. Restart it first.";

const newWorker = () => moduleWorker("kernel/worker.js");
/** @type {Worker | null} */
let waiting = null;

/** Load the first kernel's script while the page is still loading. */
export function prepareKernel() {
  waiting = newWorker();
}

/**
 * Work that is queued or runs: `message` is the worker's.
 * @typedef {{
 *   id: number, name: (id: number) => string, label: string, message: any, listener: (message: any) => void,
 *   group: unknown, resolve: (ending: any) => void, reject: (error: Error) => void,
 * }} Run
 */

/**
 * The page's connection to one kernel. States: loading, idle, busy, interrupting, dead. Events:
 *
 * - "state" ({state, message})
 * - "boot" ({stage, loaded, total})
 * - "ready": the kernel's description of itself
 * - "loading" ({text})
 * - "unresponsive": an interrupt had no effect
 * - "comm", "widget-module": a message for the page's half of widgets; see widget-models.js
 * - "captured": an output of the Output widget `widget`
 * - "ran" ({id, name, ok, seconds}): a run has ended
 * - "gpu" ({id, working, seconds}): whether and how long the GPU works for an ended run
 * - "files": the contents of the home folder; see home-folder.js
 * - "download" ({name, bytes})
 * - "memory": the GPU's memory; see graphics_memory.py
 * - "outline": the variables after a run; see outline.py
 */
export class KernelClient extends EventTarget {
  /** @type {Worker | null} */
  #worker = null;
  /** @type {SharedArrayBuffer | null} */
  #buffer = null;
  /** @type {SharedArrayBuffer | null} */
  #answerBuffer = null;
  /**
   * The mailbox of pointer input (mailbox.js), if the page is isolated.
   * @type {SharedArrayBuffer | null}
   */
  mail = null;
  /** @type {number | undefined} */
  #outputTimer;
  /** Whether Python is blocked in `input()`. */
  #asked = false;
  /** @type {Run[]} */
  #queue = [];
  /** @type {Run | null} */
  #current = null;
  #answers = new Map();
  #background = new Map();
  #nextId = 1;
  /** @type {number | undefined} */
  #computingTimer;
  /** @type {number | undefined} */
  #reactionTimer;
  state = "dead";
  /** Why the kernel is dead. */
  message = "";
  /** The number of cells that this kernel began. */
  count = 0;
  /** @type {PromiseWithResolvers<void> | null} */
  #starting = null;
  /**
   * Resolves when the kernel can run code. A restart creates a new promise. If the former kernel
   * was not ready yet, the former promise follows the new one.
   * @type {Promise<void> | null}
   */
  ready = null;
  info = null;
  /** Whether this kernel ran code, whose variables a restart would lose. */
  hasRun = false;

  start() {
    /** @type {PromiseWithResolvers<void>} */
    const starting = Promise.withResolvers();
    // Failures are also reported through the state.
    starting.promise.catch(() => {});
    this.#starting = starting;
    this.ready = starting.promise;
    this.info = null;
    this.count = 0;
    this.#buffer = globalThis.crossOriginIsolated ? new SharedArrayBuffer(SHARED_BYTES) : null;
    this.#answerBuffer = this.#buffer && new SharedArrayBuffer(ANSWER_BYTES);
    this.mail = this.#buffer && new SharedArrayBuffer(MAIL_BYTES);
    const worker = waiting ?? newWorker();
    waiting = null;
    this.#worker = worker;
    worker.onmessage = ({ data }) => {
      if (worker === this.#worker) this.#receive(data);
    };
    worker.onerror = (event) => {
      // Later errors are those of the user's JavaScript callbacks, which the console shows.
      if (worker !== this.#worker || this.state !== "loading") return;
      event.preventDefault();
      this.#die(event.message || "the kernel's script could not be loaded");
    };
    this.#setState("loading");
    worker.postMessage({
      type: "boot", interruptBuffer: this.#buffer, answerBuffer: this.#answerBuffer,
      mailBuffer: this.mail,
    });
  }

  /** Terminate the worker. Running and queued code is rejected. */
  end() {
    this.#starting?.reject(new Error(NOT_RUNNING));
    this.#stop("The kernel was ended before this code had finished.");
    this.#setState("dead");
  }

  /** Terminate the worker and start a new one. Queued code is rejected. */
  restart() {
    const former = this.#starting;
    this.#stop("The kernel was restarted before this code had finished.");
    this.start();
    former?.resolve(/** @type {Promise<void>} */ (this.ready));
  }

  /**
   * Run code after everything queued before it. `name(id)` is called when the run starts and names
   * the code in tracebacks. Resolves to the result (see runner.py). `listener` gets messages during
   * the run: those of outputs.py, "picture" and "input". When a run of a `group` fails or is
   * interrupted, queued runs of that group are cancelled.
   */
  run({ name, code, listener = () => {}, group = null }) {
    return this.#enqueue({ name, message: { type: "run", code }, listener, group });
  }

  /**
   * Pass a message to a widget in Python, as a run without code. `comm` has the arguments of
   * comms.py. `begin(id)` is called when the run starts.
   */
  sendComm({ comm, buffers, begin, listener }) {
    const name = (id) => {
      begin(id);
      return "a widget";
    };
    return this.#enqueue({ name, message: { type: "comm", comm, buffers }, listener, group: null });
  }

  #enqueue(work) {
    if (this.state === "dead") {
      return Promise.reject(new Error(NOT_RUNNING));
    }
    const request = { id: this.#nextId++, label: "", ...work, ...Promise.withResolvers() };
    this.#queue.push(request);
    this.#advance();
    return request.promise;
  }

  #dropQueued(group, reason) {
    if (group === null) return;
    const dropped = this.#queue.filter((request) => request.group === group);
    this.#queue = this.#queue.filter((request) => request.group !== group);
    for (const request of dropped) request.reject(new Error(reason));
  }

  /** The run whose code runs. */
  get runningId() {
    return this.#current?.id ?? null;
  }

  get busyOrQueued() {
    return this.#current !== null || this.#queue.length > 0;
  }

  /** Interrupt the running code and cancel queued runs of the same group. */
  interrupt() {
    const request = this.#current;
    if (!request || this.state === "dead") return;
    this.#dropQueued(request.group, "Not run: the run before it was interrupted.");
    this.#setState("interrupting");
    this.#send({ type: "interrupt", id: request.id });
    this.#clearTimers();
    if (this.#asked) this.#reply(null);
    else {
      this.#computingTimer = setTimeout(() => {
        if (this.#buffer) raiseInterrupt(this.#buffer, request.id);
      }, WAITING_ANSWER_MS);
    }
    this.#reactionTimer = setTimeout(() => this.#emit("unresponsive"), REACTION_MS);
  }

  /** Return completions between the code `before` and `after`, null if the kernel is busy. */
  complete(before, after) {
    return this.#ask({ type: "complete", before, after });
  }

  /** Return the signature and documentation there, null if there is none or the kernel is busy. */
  describe(before, after) {
    return this.#ask({ type: "describe", before, after });
  }

  /** Return the GPU memory in use, null if the kernel is busy. */
  async status() {
    const memory = await this.#ask({ type: "status" });
    if (memory) this.#emit("memory", memory);
    return memory;
  }

  /** Return row, column and value at a position on a drawing, "" or null if there is none. */
  valueAt(canvas, owner, x, y) {
    return this.#ask({ type: "valueAt", canvas, owner, x, y });
  }

  /** Drop Python's array and pointer input for a picture that is no longer shown. */
  forgetDrawing(canvas, owner) {
    this.#worker?.postMessage({ type: "forget", canvas, owner });
  }

  /** Return the variables with their sizes (variables.py), null if the kernel is busy. */
  variables() {
    return this.#ask({ type: "variables" });
  }

  /** Return the arrays on the GPU (gpu_arrays.py), null if the kernel is busy. */
  arrays() {
    return this.#ask({ type: "arrays" });
  }

  /**
   * Write bytes into the kernel's home folder. Resolves to the `whole` path and the bytes of the
   * previous file `before`, or null.
   */
  writeFile(name, bytes) {
    return this.#call({ type: "file", name, bytes });
  }

  /** Return the bytes of a file in the home folder, when the kernel has time. */
  readFile(path) {
    return this.#call({ type: "read", path });
  }

  /** Delete a file in the home folder. Resolves to its bytes. */
  deleteFile(path) {
    return this.#call({ type: "delete", path });
  }

  /**
   * Send a question that the kernel answers even if it must finish something first. Returns null if
   * a restart intervenes.
   */
  async #call(question) {
    await this.ready;
    if (this.state === "dead") throw new Error(NOT_RUNNING);
    const id = this.#nextId++;
    const answer = Promise.withResolvers();
    this.#answers.set(id, answer);
    this.#send({ ...question, id });
    return answer.promise;
  }

  /** Send to the worker, which exists in every state but "dead". */
  #send(message) {
    /** @type {Worker} */ (this.#worker).postMessage(message);
  }

  #ask(question) {
    if (this.state !== "idle") return Promise.resolve(null);
    const id = this.#nextId++;
    const answer = Promise.withResolvers();
    this.#answers.set(id, answer);
    setTimeout(() => this.#answer(id, null), ANSWER_MS);
    this.#send({ ...question, id });
    return answer.promise;
  }

  #answer(id, value) {
    this.#answers.get(id)?.resolve(value);
    this.#answers.delete(id);
  }

  #receive(message) {
    const { type, id } = message;
    if (type === "boot") this.#emit("boot", message);
    else if (type === "ready") this.#becomeReady(message);
    else if (type === "answer") this.#answer(id, message.value);
    else if (type === "done") this.#finish(message);
    else if (type === "failed") this.#fail(message);
    else if (type === "outline") this.#emit("outline", message.value);
    else if (type === "snapshot") makeSnapshot(message.lockFile);
    else if (type === "files" || type === "download") this.#emit(type, message);
    else if (type === "interrupted") clearTimeout(this.#computingTimer);
    else this.#deliver(message);
  }

  #becomeReady(message) {
    this.info = message;
    this.#setState("idle");
    this.#emit("ready", message);
    this.#starting?.resolve();
    this.#advance();
  }

  #deliver(message) {
    if (message.type === "comm" || message.type === "widget-module") {
      this.#emit(message.type, message);
      return;
    }
    if (message.widget) {
      this.#emit("captured", message);
      return;
    }
    if (message.type === "gpu") this.#emit("gpu", message);
    if (message.type === "loading") {
      this.#emit("loading", message);
      return;
    }
    // A background task may print after its cell is done.
    const request = message.id === this.#current?.id
      ? this.#current : this.#background.get(message.id);
    if (message.type === "input") this.#askPerson(request, message);
    else request?.listener(message);
  }

  /** Pass the request to the listener, with a function that takes the answer. */
  #askPerson(request, message) {
    this.#asked = message.blocked;
    const reply = message.blocked
      ? (text) => this.#reply(text) : (text) => this.#send({ type: "input", text });
    request?.listener({ ...message, reply });
  }

  #reply(text) {
    if (!this.#asked) return;
    this.#asked = false;
    giveAnswer(this.#answerBuffer, text);
  }

  #advance() {
    if (this.state !== "idle" || this.#current) return;
    const request = this.#queue.shift();
    if (!request) return;
    this.#current = request;
    this.hasRun = true;
    this.#setState("busy");
    const { id, name, message } = request;
    request.label = name(id);
    this.#send({ ...message, id, name: request.label, screen: screenNow() });
  }

  #finish(message) {
    const request = this.#current;
    if (!request || request.id !== message.id) return;
    this.#clearTimers();
    this.#current = null;
    this.#background.set(request.id, request);
    if (this.#background.size > 100) {
      this.#background.delete(this.#background.keys().next().value);
    }
    this.#setState("idle");
    const { ok, seconds } = message;
    this.#emit("ran", { id: request.id, name: request.label, ok, seconds });
    request.resolve(message);
    if (!message.ok) this.#dropQueued(request.group, "Not run: the run before it failed.");
    this.#advance();
  }

  #fail({ request, id, message }) {
    if (request === "boot" || request === "run") this.#die(message);
    else {
      this.#answers.get(id)?.reject(new Error(message));
      this.#answers.delete(id);
    }
  }

  #die(message) {
    this.#starting?.reject(new Error(message));
    this.#stop(`The kernel died: ${message}`);
    this.#setState("dead", message);
  }

  #stop(reason) {
    this.#clearTimers();
    this.#worker?.terminate();
    this.#worker = null;
    const waiting = [this.#current, ...this.#queue].filter((request) => request !== null);
    this.#current = null;
    this.#queue = [];
    this.#background.clear();
    for (const { resolve } of this.#answers.values()) resolve(null);
    this.#answers.clear();
    this.#asked = false;
    this.hasRun = false;
    for (const request of waiting) request.reject(new Error(reason));
  }

  #clearTimers() {
    clearTimeout(this.#computingTimer);
    clearTimeout(this.#reactionTimer);
  }

  #setState(state, message = "") {
    Object.assign(this, { state, message });
    clearInterval(this.#outputTimer);
    if (this.#buffer && (state === "busy" || state === "interrupting")) {
      this.#outputTimer = setInterval(() => askForOutput(this.#buffer), OUTPUT_MS);
    }
    this.#emit("state", { state, message });
  }

  /** @param {string} type @param {unknown} detail */
  #emit(type, detail = null) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
