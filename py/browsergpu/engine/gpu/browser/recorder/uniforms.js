// The uniform ring: parameters for browsers without immediates.
import { uniformLayout } from "./layouts.js";
import { queue } from "./queue.js";

const SLOTS = 256; // more than dispatchesPerSubmit plus the dispatches of a full ring
const SLOT_BYTES = 1024; // enough for the longest fused kernel with a number for each operation

/** @type {GPUBuffer | null} */
let uniformBuffer = null;
/** @type {GPUBindGroup | null} set once there is an offset */
export let uniformGroup = null;
let uniformStaging = new Uint32Array(0);
let slotsUsed = 0;

// Stores a command's parameters and returns their offset in the uniform buffer.
/** @param {Uint32Array} words @param {number} at @param {number} count */
export function uniformOffset(words, at, count) {
  if (uniformBuffer === null) makeUniforms();
  const offset = slotsUsed * SLOT_BYTES;
  uniformStaging.set(words.subarray(at, at + count), offset / 4);
  slotsUsed += 1;
  return offset;
}

function makeUniforms() {
  const size = SLOTS * SLOT_BYTES;
  const usage = GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST;
  uniformBuffer = device.createBuffer({ size, usage, label: "parameters" });
  uniformStaging = new Uint32Array(size / 4);
  uniformGroup = device.createBindGroup({
    layout: uniformLayout,
    label: "parameters",
    entries: [{ binding: 0, resource: { buffer: uniformBuffer, size: SLOT_BYTES } }],
  });
}

// Must be called before the batch is submitted.
export function sendUniforms() {
  if (uniformBuffer === null || slotsUsed === 0) return;
  queue.writeBuffer(uniformBuffer, 0, uniformStaging, 0, (slotsUsed * SLOT_BYTES) / 4);
  slotsUsed = 0;
}

export function destroyUniforms() {
  uniformBuffer?.destroy();
}
