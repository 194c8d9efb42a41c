/** Tells the page whether the GPU still works on what a run left to it, and when it is done. */

const LOOK_MS = 50;

/** @type {number | null} */
let watched = null;

/** A run begins: what the GPU still does cannot be told from its work. */
export function beginRun() {
  watched = null;
}

/** The run `id` has ended; `unfinished()` counts what the GPU has not done yet. */
export function watchGpu(id, unfinished, post) {
  watched = id;
  const ended = performance.now();
  let looks = 0;
  const look = () => {
    if (watched !== id) return;
    const working = unfinished() > 0;
    // What is done in a moment makes no light flicker.
    if (!working || looks === 1) {
      post({ type: "gpu", id, working, seconds: (performance.now() - ended) / 1000 });
    }
    looks += 1;
    if (working) setTimeout(look, LOOK_MS);
  };
  look();
}
