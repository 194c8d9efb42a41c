/** Tells the page whether the GPU still works on what a run left to it, and when it is done. */

const LOOK_MS = 50;

/** Ends the present watch. */
let stop = () => {};

/** A run begins: what the GPU still does cannot be told from its work. */
export function beginRun() {
  stop();
}

/** The run `id` has ended; `unfinished()` counts what the GPU has not done yet. */
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
    // What is done in a moment makes no light flicker.
    if (!working || looks === 1) tell(working);
    looks += 1;
    if (working) timer = setTimeout(look, LOOK_MS);
  };
  look();
}
