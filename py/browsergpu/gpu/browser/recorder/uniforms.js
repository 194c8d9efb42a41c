// The uniform ring: parameters where the browser has no immediates.
import { uniformLayout } from "./layouts.js";
import { queue } from "./queue.js";

const SLOTS = 256; // more dispatches than dispatchesPerSubmit and a full ring make
const SLOT_BYTES = 1024; // what a fused kernel of the most operations, each with a number, may need

/** @type {GPUBuffer | null} */
let uniformBuffer = null;
/** @type {GPUBindGroup | null} there as soon as there is an offset */
export let uniformGroup = null;
let uniformStaging = new Uint32Array(0);
let slotsUsed = 0;

// Where the parameters of a command are for the open batch.
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

// To be called before the batch is submitted.
export function sendUniforms() {
  if (uniformBuffer === null || slotsUsed === 0) return;
  queue.writeBuffer(uniformBuffer, 0, uniformStaging, 0, (slotsUsed * SLOT_BYTES) / 4);
  slotsUsed = 0;
}

export function destroyUniforms() {
  uniformBuffer?.destroy();
}
