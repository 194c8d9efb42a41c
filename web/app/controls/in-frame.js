/**
 * A displayed widget in its frame: Jupyter's html-manager, whose comms are messages of the page
 * (widget-frame.js). It gets the states of the widgets that it needs when it needs them.
 */
(() => {
  const frame = /** @type {any} */ (globalThis);
  const page = parent;
  const say = (message) => page.postMessage(message, "*");

  // -- AMD modules: html-manager's, and those of other packages' widgets --------------------------

  /** @type {Map<string, {names: string[], make: any, made?: any}>} */
  const modules = new Map();
  /** The module whose script runs, since scripts may define modules without a name. */
  let running = "";

  function define(...parts) {
    const make = parts.pop();
    const names = Array.isArray(parts.at(-1)) ? parts.pop() : ["require", "exports", "module"];
    modules.set(parts[0] ?? running, { names, make });
  }
  define.amd = {};
  frame.define = define;

  function required(name) {
    const module = modules.get(name);
    if (!module) throw new Error(`The frame has no module ${name}.`);
    if (!("made" in module)) {
      const own = { exports: {}, id: name, uri: document.baseURI };
      const special = { require: required, exports: own.exports, module: own };
      module.made = own.exports;
      const { names, make } = module;
      const made = typeof make === "function"
        ? make(...names.map((one) => special[one] ?? required(one))) : make;
      module.made = made ?? own.exports;
    }
    return module.made;
  }

  /** Load a module from the kernel's packages. */
  async function load(name) {
    if (modules.has(name)) return required(name);
    const { text } = await ask({ type: "module", name }, `module ${name}`);
    if (text === null) throw new Error(`No installed package has the widgets' module ${name}.`);
    running = name;
    const script = document.createElement("script");
    script.textContent = text;
    document.head.append(script);
    return required(name);
  }

  // -- questions to the page ----------------------------------------------------------------------

  /** @type {Map<string, PromiseWithResolvers<any>>} */
  const asked = new Map();

  function ask(question, key) {
    const answer = asked.get(key) ?? Promise.withResolvers();
    if (!asked.has(key)) say(question);
    asked.set(key, answer);
    return answer.promise;
  }

  function answer(key, message) {
    asked.get(key)?.resolve(message);
    asked.delete(key);
  }

  // -- comms --------------------------------------------------------------------------------------

  /** Return binary data as bytes of its own. */
  const bytesOf = (data) => (ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength).slice() : new Uint8Array(data).slice());

  /** @type {Map<string, Comm>} */
  const comms = new Map();
  /** What waits for the end of a message's run, by message. */
  const waiting = new Map();

  class Comm {
    target_name = "jupyter.widget";
    /** Whether the kernel's latest change passes the links of this frame. */
    passesLinks = false;
    /** Messages that came before the model listened. */
    #early = [];
    /** @type {((message: any) => void) | null} */
    #listener = null;
    #closed = /** @type {(message: any) => void} */ (() => {});

    constructor(id) {
      this.comm_id = id;
      comms.set(id, this);
    }

    open() {}

    send(data, callbacks, _metadata, buffers) {
      return this.#say("comm_msg", data, callbacks, buffers);
    }

    close(data = {}, callbacks, _metadata, buffers) {
      comms.delete(this.comm_id);
      return this.#say("comm_close", data, callbacks, buffers);
    }

    #say(kind, data, callbacks, buffers = []) {
      const message = crypto.randomUUID();
      waiting.set(message, callbacks);
      say({
        type: "send", kind, comm: this.comm_id, message,
        data: JSON.parse(JSON.stringify(data)), buffers: buffers.map(bytesOf),
      });
      return message;
    }

    on_msg(listener) {
      this.#listener = listener;
      for (const message of this.#early.splice(0)) listener(message);
    }

    on_close(listener) {
      this.#closed = listener;
    }

    receive({ kind, data, buffers, parent: parentId, passesLinks }) {
      this.passesLinks = passesLinks;
      const message = {
        content: { comm_id: this.comm_id, data }, buffers: viewsOf(buffers), metadata: {},
        parent_header: parentId ? { msg_id: parentId } : {},
      };
      if (kind === "comm_close") this.#closed(message);
      else if (this.#listener) this.#listener(message);
      else this.#early.push(message);
    }
  }

  const viewsOf = (buffers) =>
    buffers.map((one) => new DataView(one.buffer, one.byteOffset, one.byteLength));

  // -- widgets ------------------------------------------------------------------------------------

  /** Return the manager, once its library has been loaded. */
  function makeManager() {
    const base = required("@jupyter-widgets/base");
    const { HTMLManager } = required("@jupyter-widgets/html-manager");
    const outputs = outputClasses(base);

    return new class extends HTMLManager {
      constructor() {
        super({ loader: load });
      }

      loadClass(className, moduleName, moduleVersion) {
        if (moduleName === "@jupyter-widgets/output") return Promise.resolve(outputs[className]);
        return super.loadClass(className, moduleName, moduleVersion);
      }

      async get_model(id) {
        if (!this.has_model(id)) this.register_model(id, this.#make(id));
        return super.get_model(id);
      }

      async #make(id) {
        const { model } = await ask({ type: "get", id }, `model ${id}`);
        if (!model) throw new Error("Python has closed the widget.");
        const made = await this.handle_comm_open(new Comm(id), {
          content: { data: model.data }, buffers: viewsOf(model.buffers), metadata: { version: "2.1.0" },
        });
        if (/^(Directional)?LinkModel$/.test(made.name)) stopEchoes(made);
        return made;
      }

      async create_view(model, options) {
        const view = await super.create_view(model, options);
        if (model.name === "TabModel") keepTitles(view);
        if (model.name === "PlayModel") nameButtons(view);
        view.listenTo(model, "change:description", () => nameFields(view));
        nameFields(view);
        return view;
      }
    }();
  }

  /** Let a link pass the kernel's changes only if no other frame's copy of it does. */
  function stopEchoes(link) {
    const { updateValue } = link;
    link.updateValue = (source, ...rest) => {
      const isKernels = source._state_lock !== null;
      if (!isKernels || source.comm.passesLinks) updateValue.call(link, source, ...rest);
    };
  }

  /** Name fields without a label for screen readers. */
  function nameFields({ el, model }) {
    if (el.matches(".widget-container")) return; // its widgets have names
    const name = model.get("description") || model.name.replace(/Model$/, "");
    const labels = [...el.querySelectorAll("label[for]")];
    const isNamed = (field) => field.closest("label")
      || labels.some((one) => one.htmlFor === field.id && one.textContent.trim());
    const fields = [...el.querySelectorAll("[role=slider], input, select, textarea")]
      .filter((field) => !isNamed(field));
    fields.forEach((field, index) => {
      const part = fields.length === 2 ? ` ${["from", "to"][index]}` : "";
      field.setAttribute("aria-label", name + part);
    });
  }

  /** Name the buttons of a Play widget, which have only icons. */
  function nameButtons({ el }) {
    ["Play or pause", "Stop", "Repeat"].forEach((name, index) =>
      el.querySelectorAll("button")[index]?.setAttribute("aria-label", name));
  }

  /**
   * Pass on the titles of tabs that change later. The library has two copies of its tabs' library;
   * the bar of one does not recognize titles of the other, and copies them.
   */
  function keepTitles(view) {
    view.listenTo(view.model, "change:titles", () => {
      const { titles } = view.luminoWidget.tabBar;
      view.model.get("titles").forEach((label, index) => {
        if (titles[index]) titles[index].label = label;
      });
    });
  }

  // -- formulas: the page sets them -----------------------------------------------------------------

  const MAY_BE_MATH = /\$|\\[([]|\\begin\{/;
  const NO_MATH = "code, pre, textarea, input, script, style, .katex";

  /** Set the formulas in the texts of an element. */
  function setMath(root) {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walker.nextNode()) texts.push(/** @type {Text} */ (walker.currentNode));
    for (const text of texts) {
      if (MAY_BE_MATH.test(text.data) && !text.parentElement?.closest(NO_MATH)) void setText(text);
    }
  }

  /** @param {Text} text */
  async function setText(text) {
    const { data } = text;
    const { html } = await ask({ type: "math", text: data }, `math ${data}`);
    if (html === null || !text.isConnected || text.data !== data) return;
    text.replaceWith(document.createRange().createContextualFragment(html));
  }

  // The library's widgets call MathJax in this way.
  frame.MathJax = { Hub: { Queue: ([, , element]) => setMath(element) } };

  // -- Output widgets: the page lays their contents upon the frame --------------------------------

  /** @type {Map<number, {place: HTMLElement, id: string, told: string}>} by view */
  const places = new Map();
  let views = 0;

  function outputClasses(base) {
    class OutputModel extends base.DOMWidgetModel {
      defaults() {
        const module = "@jupyter-widgets/output";
        return {
          ...super.defaults(), _model_name: "OutputModel", _view_name: "OutputView",
          _model_module: module, _view_module: module, msg_id: "", outputs: [],
        };
      }
    }

    class OutputView extends base.DOMWidgetView {
      /** @type {(() => void) | null} */
      leave = null;

      render() {
        super.render();
        this.el.classList.add("widget-output");
        const view = ++views;
        this.leave = () => {
          places.delete(view);
          say({ type: "output", view, shown: false });
        };
        places.set(view, { place: this.el, id: this.model.model_id, told: "" });
        sizes.observe(this.el);
      }

      remove() {
        this.leave?.();
        return super.remove();
      }
    }
    return { OutputModel, OutputView };
  }

  /** Tell the page where the Output widgets are. */
  function tellPlaces() {
    for (const [view, one] of places) {
      const { left, top, width } = one.place.getBoundingClientRect();
      const shown = one.place.checkVisibility();
      const told = JSON.stringify([shown, left, top, width]);
      if (told === one.told) continue;
      one.told = told;
      say({ type: "output", view, id: one.id, shown, left, top, width });
    }
  }

  let isPlanned = false;
  function plan() {
    if (isPlanned || places.size === 0) return;
    isPlanned = true;
    requestAnimationFrame(() => {
      isPlanned = false;
      tellPlaces();
    });
  }
  const sizes = new ResizeObserver(plan);

  function watchPlaces() {
    sizes.observe(document.documentElement);
    sizes.observe(document.body);
    const all = { subtree: true, childList: true, attributes: true, characterData: true };
    new MutationObserver(plan).observe(document, all);
    for (const type of ["scroll", "transitionend", "load"]) addEventListener(type, plan, true);
  }

  // -- messages of the page -----------------------------------------------------------------------

  let manager;

  function addStyle({ style, fonts }) {
    for (const { family, bytes, ...rules } of fonts) document.fonts.add(new FontFace(family, bytes, rules));
    document.head.append(Object.assign(document.createElement("style"), { textContent: style }));
  }

  const handlers = {
    async begin({ id, style, fonts, scheme, values }) {
      // The library's style sheet names files that a frame without an origin cannot load.
      addStyle({ style, fonts });
      handlers.look({ scheme, values });
      manager = makeManager();
      watchPlaces();
      try {
        const model = await manager.get_model(id);
        await manager.display_view(manager.create_view(model), document.body);
        say({ type: "shown" });
      } catch (error) {
        document.body.append(`The widget could not be shown: ${error?.message ?? error}`);
        say({ type: "copied", copy: null });
      }
    },
    look({ scheme, values }) {
      const { style } = document.documentElement;
      style.colorScheme = scheme;
      for (const [name, value] of Object.entries(values)) style.setProperty(name, value);
    },
    math(message) {
      if (message.look) addStyle(message.look);
      answer(`math ${message.text}`, message);
    },
    model: (message) => answer(`model ${message.id}`, message),
    module: (message) => answer(`module ${message.name}`, message),
    load: ({ id }) => manager.get_model(id),
    comm: (message) => comms.get(message.comm)?.receive(message),
    idle({ message }) {
      const callbacks = waiting.get(message);
      waiting.delete(message);
      callbacks?.iopub?.status?.({ content: { execution_state: "idle" } });
    },
    height({ view, height }) {
      const found = places.get(view);
      if (found) found.place.style.height = `${height}px`;
    },
    end() {
      document.body.inert = true;
      document.documentElement.classList.add("ended");
    },
  };

  addEventListener("message", ({ source, data }) => {
    if (source === page) handlers[data.type]?.(data);
  });
})();
