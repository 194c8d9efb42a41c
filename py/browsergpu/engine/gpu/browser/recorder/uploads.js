// Host to device. A large array goes through mapped buffers while there are any: their memory is
// shared with the GPU process and has no pages to be zeroed. They are mapped again only when Python
// yields the thread. The rest goes through the queue in pieces that are sent at once, so that the
// GPU process handles a piece while the next one is copied.
import { bufferOf } from "./buffers.js";
import { sendPartialReads } from "./chunks.js";
import { counters } from "./counters.js";
import { batch, endPass, openEncoder, submit } from "./encoding.js";
import { lost } from "./loss.js";
import { submitNothing } from "./nudges.js";
import { afterWaiting, compileAwaited, isAwaited } from "./order.js";
import { queue } from "./queue.js";

const UPLOAD_CHUNK = 2 ** 22; // bytes; smaller uploads go through the queue
const UPLOADS_GROWN = 2; // mapped buffers created after a large upload
const MOST_UPLOAD_BYTES = 2 ** 26; // of the mapped buffers
const MOST_WAITING_BYTES = 2 ** 16; // of an upload that waits for earlier commands in a copy

/** @type {Set<GPUBuffer>} all upload buffers */
export const uploads = new Set();
/** @type {GPUBuffer[]} the mapped ones */
const mappedUploads = [];

// Copies `size` bytes, a multiple of 4, of a Python buffer. The rest of the last word becomes 0.
/** @param {number} id @param {number} offset @param {PythonBuffer} source @param {number} size */
export function write(id, offset, source, size) {
  sendPartialReads();
  const awaited = isAwaited(id); // earlier commands must run before the upload
  if (awaited && size > MOST_WAITING_BYTES) compileAwaited();
  const bytes = source.getBuffer("u8");
  try {
    if (awaited && size <= MOST_WAITING_BYTES) {
      const data = bytes.data.slice();
      afterWaiting(id, () => put(id, offset, data, size));
    } else put(id, offset, bytes.data, size);
  } finally {
    bytes.release();
  }
  counters.uploads += 1;
  if (size >= UPLOAD_CHUNK) growUploads(size);
}

/** @param {number} id @param {number} offset @param {Uint8Array} data @param {number} size */
function put(id, offset, data, size) {
  const entry = bufferOf(id);
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
}

// Copies as many bytes as fit into mapped memory, and returns their number.
/**
 * @param {GPUBuffer} target
 * @param {number} offset
 * @param {Uint8Array} data
 * @param {number} size
 */
function writeMapped(target, offset, data, size) {
  if (mappedUploads.length > 0) submit(); // an earlier invalid command would drop the copy, too
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

// Creates more mapped buffers once the GPU is idle, because it takes milliseconds.
/** @type {object | null} */
let growth = null;
/** @param {number} size */
function growUploads(size) {
  if (growth !== null || uploads.size * UPLOAD_CHUNK >= Math.min(size, MOST_UPLOAD_BYTES)) return;
  const mine = growth = {};
  const grow = () => {
    if (growth !== mine) return; // trimmed in the meantime
    growth = null;
    if (lost === null) for (let i = 0; i < UPLOADS_GROWN; i++) addUpload();
  };
  queue.onSubmittedWorkDone().then(grow, () => {});
}

function addUpload() {
  const usage = GPUBufferUsage.MAP_WRITE | GPUBufferUsage.COPY_SRC;
  device.pushErrorScope("out-of-memory"); // ignored: these buffers only improve speed
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
