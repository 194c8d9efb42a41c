// Profiling: times each dispatch in a separate pass.
import { beginProfile, endProfile } from "./clock.js";
import { beginWait } from "./errors.js";
import { encoded, sendNow } from "./order.js";
import { readQueries } from "./queries.js";
import { synchronize } from "./waiting.js";

/** @param {boolean} timestamps */
export function startProfile(timestamps) {
  sendNow();
  beginProfile(timestamps);
}

// Resolves to the spans of all dispatches as JSON. The span is null for a dispatch that did not
// run, because its pipeline was refused or its batch was dropped, which leaves times of 0.
/** @param {number} ticket */
export async function stopProfile(ticket) {
  beginWait(ticket);
  await encoded();
  const { dispatches, sets, spans } = endProfile();
  for (const { queries, used, numbers } of sets) {
    (await readQueries(queries, used)).forEach((span, i) => {
      if (span[0] !== 0 || span[1] !== 0) spans.set(numbers[i], span);
    });
  }
  await synchronize(ticket);
  return JSON.stringify(Array.from({ length: dispatches }, (_, number) => spans.get(number)));
}
