/** `globalThis.browsergpu`: the page's API for programs that control it. */

/**
 * `ready` resolves when the kernel can run code. `run(code)` resolves to the repr of the last
 * expression, to a string itself, or to an empty string if there is no value. It rejects with the
 * traceback.
 */
export function machineApi(kernel, { onMessage = () => {} } = {}) {
  let runs = 0;
  return {
    get ready() {
      return kernel.ready;
    },
    async run(code) {
      if (typeof code !== "string") {
        throw new TypeError(`browsergpu.run takes Python code as a string, not ${typeof code}`);
      }
      runs += 1;
      const name = `Run ${runs}`;
      const ending = await kernel.run({ name: () => name, code, listener: onMessage });
      if (!ending.ok) throw new Error(ending.full);
      return ending.repr;
    },
  };
}

/** The API of a page that lacks requirements of the kernel. */
export function refusingApi(problems) {
  const reason = `this page cannot run code: ${problems.join(", ")}`;
  const refuse = () => Promise.reject(new Error(reason));
  return {
    get ready() {
      return refuse();
    },
    run: refuse,
  };
}
