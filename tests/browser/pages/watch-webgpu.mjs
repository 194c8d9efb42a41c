// Watches WebGPU independently of the product. Imported first.
//
// - Logs uncaptured errors to the console. This includes errors that the product handles, and errors
//   in a worker, which Playwright does not show.
// - Provides `globalThis.gpuWatch`: the opened devices, and the number of dispatches, copies and
//   reads, so that tests do not depend on the product's own counters.

const watch = {
  /** @type {GPUDevice[]} */
  devices: [],
  dispatches: 0,
  widestGrid: 0, // workgroups in x or z
  submits: 0,
  emptySubmits: 0,
  mappings: 0,
  buffersAlive: 0,
};
globalThis.gpuWatch = watch;

if ("GPUAdapter" in globalThis) {
  // Firefox reports errors of a lost device until it reports the loss.
  const gone = new WeakSet();
  count(GPUDevice, "destroy", (device) => gone.add(device));
  const requestDevice = GPUAdapter.prototype.requestDevice;
  GPUAdapter.prototype.requestDevice = async function (...args) {
    const device = await requestDevice.apply(this, args);
    device.addEventListener("uncapturederror", ({ error }) => {
      if (!gone.has(device)) console.error(`uncaptured ${error.constructor.name}: ${error.message}`);
    });
    watch.devices.push(device);
    return device;
  };

  count(GPUComputePassEncoder, "dispatchWorkgroups", (_pass, x, ...yz) => {
    watch.dispatches += 1;
    watch.widestGrid = Math.max(watch.widestGrid, x, yz[1] ?? 1);
  });
  count(GPUQueue, "submit", (_queue, buffers) => {
    if (buffers.length > 0) watch.submits += 1;
    else watch.emptySubmits += 1; // they only make the browser check whether the GPU is done
  });
  count(GPUBuffer, "mapAsync", () => (watch.mappings += 1));
  count(GPUDevice, "createBuffer", () => (watch.buffersAlive += 1));
  const destroyed = new WeakSet();
  count(GPUBuffer, "destroy", (buffer) => {
    if (!destroyed.has(buffer)) watch.buffersAlive -= 1;
    destroyed.add(buffer);
  });
}

function count(type, method, note) {
  const original = type.prototype[method];
  type.prototype[method] = function (...args) {
    note(this, ...args);
    return original.apply(this, args);
  };
}
