// The GPU's time for all passes between startTiming and stopTiming.
import { beginTiming, endTiming } from "./clock.js";
import { endPass, submit } from "./encoding.js";
import { lost } from "./loss.js";
import { encoded, sendNow } from "./order.js";
import { readQueries } from "./queries.js";

export function startTiming() {
  sendNow();
  if (lost !== null || !device.features.has("timestamp-query")) return false;
  beginTiming();
  return true;
}

// Resolves to nanoseconds, or -1 if nothing was timed.
export async function stopTiming() {
  await encoded();
  endPass();
  const { queries, begun } = endTiming();
  if (!begun || lost !== null) {
    submit();
    queries.destroy();
    return -1;
  }
  const [[begin, end] = [0, -1]] = await readQueries(queries, 2);
  return end - begin;
}
