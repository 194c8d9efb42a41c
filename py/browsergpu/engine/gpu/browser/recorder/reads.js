// Device to host: copies ranges of buffers into Python's memory.
import { bufferOf } from "./buffers.js";
import { beginSending, endSending, sendChunk } from "./chunks.js";
import { counters } from "./counters.js";
import { beginWait, dropWait, hasErrors, report, settle } from "./errors.js";
import { lost, lostSoon, unlessLost } from "./loss.js";
import { inOrder } from "./order.js";
import { returnStaging } from "./staging.js";

/** @type {Map<number, ReadJob>} by ticket */
const reads = new Map();

// Copies a range of a buffer into a Python buffer, unless there are errors to raise. Python gets
// the errors with takeErrors, as after each wait, or abandons the wait with stopWait.
/**
 * @param {number} ticket
 * @param {number} id
 * @param {number} offset
 * @param {number} size
 * @param {PythonBuffer} target
 */
export async function read(ticket, id, offset, size, target) {
  if (lost !== null) return;
  beginWait(ticket);
  const source = bufferOf(id).buffer;
  /** @type {ReadJob} */
  const job = { source, offset, size, sent: 0, chunks: [], stopped: false };
  reads.set(ticket, job);
  await inOrder(id, () => beginSending(job));
  counters.readbacks += 1;
  for (let taken = 0; taken < size && lost === null && !job.stopped;) {
    const { staging, at, size: count, mapped } = job.chunks[0];
    let error = await unlessLost(mapped);
    if (taken === 0) await settle();
    // A device that is being lost unmaps its memory before the loss is known.
    if (!error && staging.mapState !== "mapped") error = new Error("the memory is not mapped");
    if (error) {
      await lostSoon();
      if (lost === null) report("validation", "read", String(error));
    }
    if (lost !== null || job.stopped || hasErrors(ticket)) break;
    job.chunks.shift();
    const bytes = target.getBuffer("u8"); // not kept: memory growth detaches it
    try {
      const fits = Math.min(bytes.data.length - at, count);
      bytes.data.set(new Uint8Array(staging.getMappedRange(0, count), 0, fits), at);
    } finally {
      bytes.release();
      returnStaging(staging);
    }
    taken += count;
    if (job.sent < size) sendChunk(job);
  }
  for (const { staging } of job.chunks) returnStaging(staging);
  endSending(job);
  reads.delete(ticket);
}

// Abandons a wait. A read does not change its Python buffer afterwards.
/** @param {number} ticket */
export function stopWait(ticket) {
  dropWait(ticket);
  const job = reads.get(ticket);
  if (job !== undefined) job.stopped = true;
}
