// Tells the console of WebGPU's uncaptured errors, even of those that the product handles and
// keeps from the console itself, and of those in a worker, which Playwright does not show.

if ("GPUAdapter" in globalThis) {
  const requestDevice = GPUAdapter.prototype.requestDevice;

  GPUAdapter.prototype.requestDevice = async function (...args) {
    const device = await requestDevice.apply(this, args);
    device.addEventListener("uncapturederror", ({ error }) => {
      console.error(`uncaptured ${error.constructor.name}: ${error.message}`);
    });
    return device;
  };
}
