/** Reports whether the GPU still works for a finished run, and when it is done. */

const LOOK_MS = 50;

/** Stops the current watch. */
let stop = () => {};

/** A run begins. The GPU's remaining work cannot be distinguished from the new run's. */
export function beginRun() {
  stop();
}

/** The run `id` has ended. `unfinished()` counts the GPU's pending work. */
export function watchGpu(id, unfinished, post) {
  const ended = performance.now();
  const tell = (working) =>
    post({ type: "gpu", id, working, seconds: (performance.now() - ended) / 1000 });
  let looks = 0;
  /** @type {number | undefined} */
  let timer;
  stop = () => {
    if (timer !== undefined) tell(false);
    clearTimeout(timer);
    timer = undefined;
  };
  const look = () => {
    timer = undefined;
    const working = unfinished() > 0;
    // Work that ends at once should not make the light flicker.
    if (!working || looks === 1) tell(working);
    looks += 1;
    if (working) timer = setTimeout(look, LOOK_MS);
  };
  look();
}
