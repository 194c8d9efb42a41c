/** States of widgets in notebook files: ipywidgets' format, version 2. */
import { safeFragment } from "../content/sanitize.js";
import { element } from "../base/dom.js";

/** The type of the states in a notebook's metadata. */
export const STATES = "application/vnd.jupyter.widget-state+json";

const DECODERS = {
  base64: (text) => Uint8Array.from(atob(text), (one) => one.charCodeAt(0)),
  hex: (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16)),
};

/**
 * Return the model of a widget in a file, null if the file is wrong. Without trust, HTML in it is
 * made harmless.
 * @returns {import("./widget-models.js").Model | null}
 */
export function readState(saved, isTrusted) {
  const {
    model_name: name, model_module: module, model_module_version: version, state, buffers = [],
  } = saved ?? {};
  if (!state || typeof state !== "object" || !Array.isArray(buffers)) return null;
  const all = {
    _model_name: name, _model_module: module, _model_module_version: version, ...structuredClone(state),
  };
  if (!isTrusted && /^HTML(Math)?Model$/.test(all._model_name) && typeof all.value === "string") {
    all.value = element("div", {}, safeFragment(all.value)).innerHTML;
  }
  const binary = new Map();
  for (const { path, data, encoding } of buffers) {
    if (!Array.isArray(path) || !(encoding in DECODERS)) return null;
    const parts = binary.get(path[0]) ?? [];
    binary.set(path[0], [...parts, { path, buffer: DECODERS[encoding](data) }]);
  }
  return { state: all, binary };
}

/**
 * Return a widget for a file. `more` is added to its state.
 * @param {import("./widget-models.js").Model} model
 */
export function writeState({ state, binary }, more) {
  const buffers = [...binary.values()].flat().map(({ path, buffer }) =>
    ({ path, encoding: "base64", data: base64(buffer) }));
  return {
    model_name: state._model_name, model_module: state._model_module,
    model_module_version: state._model_module_version, state: { ...state, ...more },
    ...(buffers.length > 0 ? { buffers } : {}),
  };
}

function base64(data) {
  const bytes = new Uint8Array(data.buffer ?? data, data.byteOffset ?? 0, data.byteLength);
  const parts = [];
  for (let at = 0; at < bytes.length; at += 0x8000) {
    parts.push(String.fromCharCode(...bytes.subarray(at, at + 0x8000)));
  }
  return btoa(parts.join(""));
}
