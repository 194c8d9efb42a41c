// Device to host in chunks, so that the GPU's copy, the browser's copy, and the copy into Python's
// memory overlap. Chunks that reads.js has not sent yet are sent before their buffer may change.
import { endPass, openEncoder, submit } from "./encoding.js";
import { nudged } from "./nudges.js";
import { takeStaging } from "./staging.js";

const READ_CHUNK = 2 ** 22; // bytes; the maximum size of staging buffers
const READS_AHEAD = 4; // chunks in flight at a time

/** @type {Set<ReadJob>} reads with unsent chunks */
const partial = new Set();

/** @param {ReadJob} job */
export function beginSending(job) {
  partial.add(job);
  while (job.sent < job.size && job.chunks.length < READS_AHEAD) sendChunk(job);
}

/** @param {ReadJob} job */
export function sendChunk(job) {
  const { source, offset, sent } = job;
  const size = Math.min(READ_CHUNK, job.size - sent);
  const staging = takeStaging(size);
  endPass();
  openEncoder().copyBufferToBuffer(source, offset + sent, staging, 0, size);
  submit();
  const mapped = nudged(staging.mapAsync(GPUMapMode.READ, 0, size))
    .then(() => null, (error) => error);
  job.chunks.push({ staging, at: sent, size, mapped });
  job.sent += size;
  if (job.sent === job.size) partial.delete(job);
}

/** @param {ReadJob} job */
export function endSending(job) {
  partial.delete(job);
}

// Sends all chunks, because commands recorded now must not change their buffers.
export function sendPartialReads() {
  if (partial.size === 0) return;
  for (const job of partial) while (job.sent < job.size) sendChunk(job);
}
