/**
 * The widgets of one kernel, as its comms describe them, or those of a notebook file. Frames get the
 * states from here, whenever they are created, and changes afterwards.
 */
import { readState, writeState } from "./widget-states.js";
import { WidgetOutputs } from "./widget-outputs.js";

/** The MIME type of a widget in a display. */
export const WIDGET = "application/vnd.jupyter.widget-view+json";

const TARGET = "jupyter.widget";
const REFERENCE = /^IPY_MODEL_(.+)$/;
/** Scripts of these are in the site. */
const OF_THE_SITE = /^@jupyter-widgets\/(base|controls|output)$/;
const LINK = /^(Directional)?LinkModel$/;

/**
 * The state of a widget as JSON, and its binary parts by the attributes that have them.
 * @typedef {{state: any, binary: Map<string, {path: (string | number)[], buffer: Uint8Array}[]>}} Model
 */
/** @typedef {import("./widget-frame.js").Frame} Frame */

/** Return the id of the widget that a value of a state refers to, "" if there is none. */
const referenceIn = (value) => REFERENCE.exec(value)?.[1] ?? "";

/** Return the ids of the widgets that any part of a state refers to. */
function referencesIn(part) {
  if (typeof part === "string") return [referenceIn(part)].filter(Boolean);
  return part && typeof part === "object" ? Object.values(part).flatMap(referencesIn) : [];
}

/** Whether a state is that of an Output widget. */
export const isOutput = (state) => state._model_name === "OutputModel";

export class WidgetModels {
  #kernel;
  /** @type {Map<string, Model>} */
  #models = new Map();
  /** @type {Set<Frame>} */
  #frames = new Set();
  /** The frames' names for the messages that run in Python, by run. */
  #sent = new Map();
  /** The scripts of other packages' widgets, by module. */
  modules = new Map();
  /** Whether the kernel has stopped. */
  isDead = false;

  /** `makeArea(root)` creates an output area. Widgets of a file have no `kernel`. */
  constructor(kernel, makeArea) {
    this.#kernel = kernel;
    this.outputs = new WidgetOutputs(makeArea, { own: kernel !== null });
  }

  /** Whether the widgets are those of a file, which do not act. */
  get isSaved() {
    return this.#kernel === null;
  }

  /** Add the widgets of a file; see widget-states.js. */
  load(states, { isTrusted }) {
    for (const [id, saved] of Object.entries(states)) {
      const model = readState(saved, isTrusted);
      if (model) this.#models.set(id, model);
    }
    for (const [id, { state }] of this.#models) {
      if (!isOutput(state)) continue;
      this.outputs.load(id, Array.isArray(state.outputs) ? state.outputs : []);
      delete state.outputs; // the area has them
    }
  }

  /** Whether the frame can show a widget of a file: there are scripts of all parts. */
  canShow(id) {
    if (!this.isSaved || !this.has(id)) return this.has(id);
    const hasScript = (module) => OF_THE_SITE.test(module) || this.modules.has(module);
    return [...this.#reachable(id)].every((one) => {
      const { _model_module: module, _view_module: view } = this.#models.get(one)?.state ?? {};
      return hasScript(module) && hasScript(view ?? module);
    });
  }

  /** Return the ids of a widget, of those it refers to, and of those that its outputs show. */
  #reachable(id, found = new Set()) {
    const model = this.#models.get(id);
    if (!model || found.has(id)) return found;
    found.add(id);
    const shown = isOutput(model.state) ? this.outputs.widgetsIn(id) : [];
    for (const one of [...referencesIn(model.state), ...shown]) this.#reachable(one, found);
    return found;
  }

  /** Return the states of widgets for a file, with those of all their parts and links. */
  statesOf(ids) {
    const found = new Set();
    for (const id of ids) this.#reachable(id, found);
    for (const [id, { state }] of this.#models) {
      if (LINK.test(state._model_name) && found.has(referenceIn(state.source?.[0]))) this.#reachable(id, found);
    }
    return Object.fromEntries([...found].map((id) => {
      const model = /** @type {Model} */ (this.#models.get(id));
      const outputs = isOutput(model.state) ? { outputs: this.outputs.outputsOf(id) } : {};
      return [id, writeState(model, outputs)];
    }));
  }

  /** A widget's output is about to go: end the pointer input of drawings in it. */
  forgetPictures(id) {
    const inside = [...this.within(id)].filter(([, state]) => isOutput(state));
    queueMicrotask(() => inside.forEach(([one]) => this.outputs.forgetUnshown(one)));
  }

  has(id) {
    return this.#models.has(id);
  }

  /**
   * The states of a widget and of those in it, with their ids.
   * @returns {Iterable<[id: string, state: any]>}
   */
  *within(id) {
    const state = this.#models.get(id)?.state;
    if (!state) return;
    yield [id, state];
    for (const child of state.children ?? []) yield* this.within(referenceIn(child));
  }

  /** The kernel has stopped: its widgets do nothing any more. */
  end() {
    this.isDead = true;
    for (const frame of this.#frames) frame.post({ type: "end" });
  }

  /** Handle a comm's message of the kernel. */
  receive({ kind, comm, target, data, buffers = [], id }) {
    if (target !== TARGET) return;
    if (kind === "comm_open") this.#models.set(comm, { state: {}, binary: new Map() });
    if (kind === "comm_close") this.#models.delete(comm);
    if (data.state) this.#merge(comm, data, buffers);
    if (kind === "comm_open") this.#loadLinks();
    else {
      const message = { type: "comm", kind, comm, data, buffers, parent: this.#sent.get(id) ?? null };
      // Each frame has its own copy of a link. A user's change has passed the link of their frame,
      // whereas Python's must pass one.
      let passesLinks = data.method === "update";
      for (const frame of this.#frames) {
        if (frame.held.has(comm) && frame.post({ ...message, passesLinks })) passesLinks = false;
      }
    }
  }

  #merge(comm, { method, state, buffer_paths: paths = [] }, buffers) {
    const model = this.#models.get(comm);
    if (!model) return;
    for (const name of Object.keys(state)) model.binary.delete(name);
    Object.assign(model.state, state);
    paths.forEach((path, index) => {
      const parts = model.binary.get(path[0]) ?? [];
      model.binary.set(path[0], [...parts, { path, buffer: buffers[index] }]);
    });
    if (isOutput(model.state) && state.outputs) {
      if (method !== "echo_update") this.outputs.load(comm, state.outputs);
      delete model.state.outputs; // the area has them
    }
  }

  /** A frame has begun, and knows no widget yet. */
  begin(frame) {
    this.#frames.add(frame);
    frame.held.clear();
  }

  /** A frame has gone. */
  leave(frame) {
    this.#frames.delete(frame);
  }

  /** Return a widget's state for a frame, which gets its changes from now on; null without one. */
  give(id, frame) {
    const model = this.#models.get(id);
    if (!model) return null;
    frame.held.add(id);
    const parts = [...model.binary.values()].flat();
    queueMicrotask(() => this.#loadLinks());
    return {
      data: { state: model.state, buffer_paths: parts.map(({ path }) => path) },
      buffers: parts.map(({ buffer }) => buffer),
    };
  }

  /** Load links into the frames that have a widget which the link follows. */
  #loadLinks() {
    for (const [id, { state }] of this.#models) {
      if (!LINK.test(state._model_name)) continue;
      const ends = [state.source, ...(state._model_name === "LinkModel" ? [state.target] : [])]
        .map((end) => referenceIn(end?.[0]));
      for (const frame of this.#frames) {
        if (frame.held.has(id) || !ends.some((end) => frame.held.has(end))) continue;
        frame.held.add(id);
        frame.post({ type: "load", id });
      }
    }
  }

  /** Tell Python's Output widgets what they contain. */
  tellOutputs() {
    for (const { id, outputs } of this.outputs.takeChanged()) {
      if (this.isDead || !this.#models.has(id)) continue;
      const data = { method: "update", state: { outputs }, buffer_paths: [] };
      this.#kernel.sendComm({
        comm: { comm_id: id, kind: "comm_msg", data }, buffers: [], begin: () => {}, listener: () => {},
      }).catch(() => {}); // the kernel stopped
    }
  }

  /**
   * Pass a message of a frame to Python. `area` gets what the widget's handlers print. Resolves when
   * they have ended.
   */
  async send({ comm, kind, data, buffers, message }, area) {
    if (this.isDead || this.isSaved || !this.#models.has(comm)) return;
    if (data?.state) this.#merge(comm, data, buffers);
    let run = 0;
    try {
      const ending = await this.#kernel.sendComm({
        comm: { comm_id: comm, kind, data }, buffers,
        begin: (id) => {
          run = id;
          this.#sent.set(id, message);
        },
        listener: (one) => area.receive(one),
      });
      if (!ending.ok) area.error(ending);
    } catch {
      // The kernel stopped, which disables its widgets.
    } finally {
      this.#sent.delete(run);
    }
  }
}
