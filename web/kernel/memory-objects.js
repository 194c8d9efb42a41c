/**
 * Pyodide's options for a memory snapshot that is larger than Python's initial memory, and that
 * refers to Pyodide's own JavaScript objects, as micropip does.
 */
import { addressOf } from "./addresses.js";

/** The objects whose attributes Python's modules may refer to, by name. */
const owners = (python) => ({ python, api: python._api });

/** Return a function that describes an attribute of Pyodide, for `restoring` to find it again. */
export function describing(python) {
  return (value) => {
    for (const [owner, object] of Object.entries(owners(python))) {
      const name = Object.getOwnPropertyNames(object).find((key) => object[key] === value);
      if (name) return [owner, name];
    }
    throw new Error(`A snapshot cannot refer to ${value}`);
  };
}

/** Return the options to start Python from a snapshot. */
export function restoring(bytes) {
  let module;
  return {
    _loadSnapshot: bytes,
    _snapshotDeserializer: ([owner, name]) => owners(module.API.public_api)[owner][name],
    async createPyodideModule(settings) {
      const { default: create } = await import(addressOf("pyodide/pyodide.asm.mjs"));
      module = await create(settings);
      // Pyodide copies the snapshot into the memory, but does not make room for it.
      if (module.HEAP8.length < bytes.length) module.growMemory(bytes.length);
      return module;
    },
  };
}
