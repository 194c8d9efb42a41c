// Host to device. A large array goes through mapped buffers as long as there are any: their memory
// is shared with the GPU's process and has no pages to be zeroed. They become mapped again only
// when Python lets go of the thread, so the rest goes through the queue, in pieces sent at once,
// which the GPU's process takes on while the next one is copied.
import { bufferOf } from "./buffers.js";
import { sendPartialReads } from "./chunks.js";
import { counters } from "./counters.js";
import { batch, endPass, openEncoder, submit } from "./encoding.js";
import { lost } from "./loss.js";
import { submitNothing } from "./nudges.js";
import { compileAwaited, isAwaited } from "./order.js";
import { queue } from "./queue.js";

const UPLOAD_CHUNK = 2 ** 22; // bytes; what is smaller goes through the queue
const UPLOADS_GROWN = 2; // mapped buffers that are made after a large upload
const MOST_UPLOAD_BYTES = 2 ** 26; // of the mapped buffers

/** @type {Set<GPUBuffer>} all buffers for it */
export const uploads = new Set();
/** @type {GPUBuffer[]} those that are mapped */
const mappedUploads = [];

// Copies `size` bytes, a multiple of 4, of a Python buffer; the rest of a last word comes as 0.
/** @param {number} id @param {number} offset @param {PythonBuffer} source @param {number} size */
export function write(id, offset, source, size) {
  const entry = bufferOf(id);
  sendPartialReads();
  if (isAwaited(id)) compileAwaited(); // the commands recorded before come before the new data
  const bytes = source.getBuffer("u8");
  try {
    const { data } = bytes;
    const whole = Math.min(data.length, size) & ~3;
    let at = whole < UPLOAD_CHUNK ? 0 : writeMapped(entry.buffer, offset, data, whole);
    if (entry.batch === batch) submit();
    for (; at < whole; at += UPLOAD_CHUNK) {
      const count = Math.min(UPLOAD_CHUNK, whole - at);
      queue.writeBuffer(entry.buffer, offset + at, data, at, count);
      if (count < whole - at) submitNothing();
    }
    if (whole < size) {
      const tail = new Uint8Array(4);
      tail.set(data.subarray(whole, size));
      queue.writeBuffer(entry.buffer, offset + whole, tail);
    }
  } finally {
    bytes.release();
  }
  counters.uploads += 1;
  if (size >= UPLOAD_CHUNK) growUploads(size);
}

// Copies the first bytes, as many as there is mapped memory for; returns how many.
/**
 * @param {GPUBuffer} target
 * @param {number} offset
 * @param {Uint8Array} data
 * @param {number} size
 */
function writeMapped(target, offset, data, size) {
  if (mappedUploads.length > 0) submit(); // an invalid command before would drop the copy too
  let at = 0;
  while (at < size) {
    const staging = mappedUploads.pop();
    if (staging === undefined) break;
    const count = Math.min(UPLOAD_CHUNK, size - at);
    new Uint8Array(staging.getMappedRange(0, count)).set(data.subarray(at, at + count));
    staging.unmap();
    endPass();
    openEncoder().copyBufferToBuffer(staging, 0, target, offset + at, count);
    submit();
    mapUpload(staging);
    at += count;
  }
  return at;
}

// Makes some more mapped buffers once the GPU has nothing to do: it takes milliseconds.
/** @type {object | null} */
let growth = null;
/** @param {number} size */
function growUploads(size) {
  if (growth !== null || uploads.size * UPLOAD_CHUNK >= Math.min(size, MOST_UPLOAD_BYTES)) return;
  const mine = growth = {};
  const grow = () => {
    if (growth !== mine) return; // trimmed meanwhile
    growth = null;
    if (lost === null) for (let i = 0; i < UPLOADS_GROWN; i++) addUpload();
  };
  queue.onSubmittedWorkDone().then(grow, () => {});
}

function addUpload() {
  const usage = GPUBufferUsage.MAP_WRITE | GPUBufferUsage.COPY_SRC;
  device.pushErrorScope("out-of-memory"); // it is only for speed
  const staging = device.createBuffer({ size: UPLOAD_CHUNK, usage, label: "upload" });
  device.popErrorScope().catch(() => {});
  uploads.add(staging);
  mapUpload(staging);
}

/** @param {GPUBuffer} staging */
function mapUpload(staging) {
  staging.mapAsync(GPUMapMode.WRITE).then(
    () => { if (uploads.has(staging)) mappedUploads.push(staging); },
    () => { if (uploads.delete(staging)) staging.destroy(); },
  );
}

export function dropUploads() {
  for (const staging of uploads) staging.destroy();
  uploads.clear();
  growth = null;
  mappedUploads.length = 0;
}
