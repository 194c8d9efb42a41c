// The table of buffers, and their creation. freeing.js removes them.
import { report, track } from "./errors.js";
import { unlessLost } from "./loss.js";

/** @type {Map<number, BufferEntry>} by id */
export const buffers = new Map();
/** @type {Map<number, GPUBuffer>} by id: buffers whose result is pending */
export const asked = new Map();

// The buffer with an id. Python uses only ids of existing buffers.
/** @param {number} id */
export function bufferOf(id) {
  return /** @type {BufferEntry} */ (buffers.get(id));
}

/** @param {number} size @param {string} label */
function makeBuffer(size, label) {
  const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.UNIFORM
    | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
  return device.createBuffer({ size, usage, label });
}

/** @param {number} id @param {GPUBuffer} buffer */
function addBuffer(id, buffer) {
  buffers.set(id, { buffer, groups: new Set(), batch: -1 });
}

/**
 * @param {number} id
 * @param {number} size
 * @param {string} label
 * @param {string} op name of the operation, for a lack of memory
 * @param {number} requested bytes
 */
export function createBuffer(id, size, label, op, requested) {
  device.pushErrorScope("out-of-memory");
  addBuffer(id, makeBuffer(size, label));
  track(device.popErrorScope().then((error) => {
    if (error) report("out-of-memory", op, error.message, { buffer: id, label, requested });
  }, () => {})); // rejects only if the device is lost
}

// Resolves to whether there was room, after a round trip to the GPU process.
/** @param {number} id @param {number} size @param {string} label */
export async function createBufferChecked(id, size, label) {
  device.pushErrorScope("out-of-memory");
  const buffer = makeBuffer(size, label);
  asked.set(id, buffer);
  const error = await unlessLost(device.popErrorScope().catch(() => null));
  if (!asked.delete(id) || error) {
    buffer.destroy();
    return false;
  }
  addBuffer(id, buffer);
  return true;
}

// Sets a buffer's name in the browser's developer tools and WebGPU's messages.
/** @param {number} id @param {string} label */
export function labelBuffer(id, label) {
  bufferOf(id).buffer.label = label;
}
