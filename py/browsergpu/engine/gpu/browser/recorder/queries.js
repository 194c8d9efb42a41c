// Reading back the GPU's timestamps.
import { endPass, openEncoder, submit } from "./encoding.js";
import { lostSoon, unlessLost } from "./loss.js";
import { nudged } from "./nudges.js";

// Destroys the set and resolves to the spans of its first `used` queries, or none after a loss.
/** @param {GPUQuerySet} queries @param {number} used */
export async function readQueries(queries, used) {
  endPass();
  const { QUERY_RESOLVE, COPY_SRC, COPY_DST, MAP_READ } = GPUBufferUsage;
  const size = 8 * used;
  const resolved = device.createBuffer({ size, usage: QUERY_RESOLVE | COPY_SRC, label: "times" });
  const staging = device.createBuffer({ size, usage: COPY_DST | MAP_READ, label: "times" });
  openEncoder().resolveQuerySet(queries, 0, used, resolved, 0);
  openEncoder().copyBufferToBuffer(resolved, 0, staging, 0, size);
  submit();
  try {
    await unlessLost(nudged(staging.mapAsync(GPUMapMode.READ)));
  } catch {
    await lostSoon();
  }
  /** @type {Span[]} */
  const spans = [];
  if (staging.mapState === "mapped") {
    const times = new BigUint64Array(staging.getMappedRange());
    for (let i = 0; i < used; i += 2) spans.push([Number(times[i]), Number(times[i + 1])]);
  }
  for (const gone of [queries, resolved, staging]) gone.destroy();
  return spans;
}
