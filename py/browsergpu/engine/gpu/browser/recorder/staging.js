// Mappable buffers for reading back, reused by later reads.
import { scoped } from "./errors.js";
import { closed } from "./loss.js";

const SMALLEST = 4096; // bytes
const MOST_IDLE = 16; // idle buffers
const MOST_IDLE_BYTES = 2 ** 25; // of the idle buffers

/** @type {GPUBuffer[]} smallest first */
const idleStaging = [];
let idleBytes = 0;
let staged = 0; // buffers in use

/** @param {number} size */
export function takeStaging(size) {
  staged += 1;
  const found = idleStaging.findIndex((buffer) => buffer.size >= size);
  if (found >= 0) {
    const [buffer] = idleStaging.splice(found, 1);
    idleBytes -= buffer.size;
    return buffer;
  }
  const usage = GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST;
  return scoped("read", () => device.createBuffer({
    size: Math.max(SMALLEST, 2 ** Math.ceil(Math.log2(size))), usage, label: "staging",
  }));
}

/** @param {GPUBuffer} buffer */
export function returnStaging(buffer) {
  staged -= 1;
  if (buffer.mapState === "mapped" && !closed) {
    buffer.unmap();
    idleStaging.push(buffer);
    idleStaging.sort((a, b) => a.size - b.size);
    idleBytes += buffer.size;
    while (idleBytes > MOST_IDLE_BYTES || idleStaging.length > MOST_IDLE) dropLargest();
  } else {
    buffer.destroy();
  }
}

function dropLargest() {
  const buffer = idleStaging.pop();
  idleBytes -= buffer?.size ?? 0;
  buffer?.destroy();
}

export function dropIdleStaging() {
  while (idleStaging.length > 0) dropLargest();
}

export function stagingBuffers() {
  return idleStaging.length + staged;
}
