// How buffers leave their table.
import { forgetGroupsOf } from "./bindgroups.js";
import { asked, bufferOf, buffers } from "./buffers.js";
import { sendPartialReads } from "./chunks.js";
import { batch } from "./encoding.js";
import { isAwaited, sendNow } from "./order.js";

/** @param {number} id */
export function destroyBuffer(id) {
  const entry = bufferOf(id);
  sendPartialReads();
  if (entry.batch === batch || isAwaited(id)) sendNow();
  forgetGroupsOf(entry);
  entry.buffer.destroy();
  buffers.delete(id);
}

// Nobody waits for a checked buffer any more; the answer may have come all the same.
/** @param {number} id */
export function abandonBuffer(id) {
  asked.get(id)?.destroy();
  asked.delete(id);
  if (buffers.has(id)) destroyBuffer(id);
}

// All, at the end.
export function destroyBuffers() {
  for (const entry of buffers.values()) entry.buffer.destroy();
  for (const buffer of asked.values()) buffer.destroy();
  asked.clear();
  buffers.clear();
}
