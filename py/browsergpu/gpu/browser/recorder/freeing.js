// How buffers and pipelines leave their tables.
import { forgetGroupsOf } from "./bindgroups.js";
import { asked, bufferOf, buffers } from "./buffers.js";
import { sendPartialReads } from "./chunks.js";
import { batch, submit } from "./encoding.js";
import { pending } from "./errors.js";
import { encoded, isAwaited, sendNow } from "./order.js";
import { pipelines, stepOf } from "./pipelines.js";

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

// A pipeline that Python knows no more, though commands that wait for others and the search for
// what made a batch invalid may still name it. WebGPU destroys it when nothing refers to it.
/** @param {number} id */
export function dropPipeline(id) {
  encoded().then(() => {
    if (stepOf(id).batch === batch) submit();
    return Promise.all(pending);
  }).then(() => pipelines.delete(id));
}

// All buffers, at the end.
export function destroyBuffers() {
  for (const entry of buffers.values()) entry.buffer.destroy();
  for (const buffer of asked.values()) buffer.destroy();
  asked.clear();
  buffers.clear();
}
