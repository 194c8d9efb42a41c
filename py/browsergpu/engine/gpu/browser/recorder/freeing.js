// Removal of buffers and pipelines from their tables.
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

// Drops a checked buffer whose wait was abandoned. Its result may have arrived.
/** @param {number} id */
export function abandonBuffer(id) {
  asked.get(id)?.destroy();
  asked.delete(id);
  if (buffers.has(id)) destroyBuffer(id);
}

// Drops a pipeline that Python has released, once waiting commands and the search for an invalid
// command no longer use it. WebGPU destroys it when it is unreferenced.
/** @param {number} id */
export function dropPipeline(id) {
  encoded().then(() => {
    if (stepOf(id).batch === batch) submit();
    return Promise.all(pending);
  }).then(() => pipelines.delete(id));
}

// Destroys all buffers when the device is closed.
export function destroyBuffers() {
  for (const entry of buffers.values()) entry.buffer.destroy();
  for (const buffer of asked.values()) buffer.destroy();
  asked.clear();
  buffers.clear();
}
