// Device to host in chunks, so that the GPU's copy, the browser's and the one into Python's memory
// overlap. What reads.js has not sent yet is sent before anything may change it.
import { endPass, openEncoder, submit } from "./encoding.js";
import { nudged } from "./nudges.js";
import { takeStaging } from "./staging.js";

const READ_CHUNK = 2 ** 22; // bytes; the buffers for reading back are at most this large
const READS_AHEAD = 4; // chunks on their way at a time

/** @type {Set<ReadJob>} reads of which some chunks have not been sent */
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

// What is recorded now must not change what is still to be read.
export function sendPartialReads() {
  if (partial.size === 0) return;
  for (const job of partial) while (job.sent < job.size) sendChunk(job);
}
