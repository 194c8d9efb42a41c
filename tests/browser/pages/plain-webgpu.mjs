// Removes optional features from this browser's WebGPU if the address has `webgpu=plain`. Like
// Firefox's, it then has no f16, subgroups, timestamps and immediates. Imported first.

const plain = new URLSearchParams(globalThis.location.search).get("webgpu") === "plain";

// The language extensions of Firefox's WGSL.
const LANGUAGE = new Set([
  "packed_4x8_integer_dot_product",
  "pointer_composite_access",
  "readonly_and_readwrite_storage_textures",
  "unrestricted_pointer_parameters",
]);

const isExtra = (/** @type {string} */ feature) =>
  feature === "shader-f16" ||
  feature === "timestamp-query" ||
  feature.startsWith("subgroup") ||
  feature.startsWith("chromium-");

if (plain && "GPU" in globalThis) {
  narrow(GPUAdapter.prototype, "features", (feature) => !isExtra(feature));
  narrow(GPUDevice.prototype, "features", (feature) => !isExtra(feature));
  narrow(GPU.prototype, "wgslLanguageFeatures", (feature) => LANGUAGE.has(feature));

  const requestDevice = GPUAdapter.prototype.requestDevice;
  GPUAdapter.prototype.requestDevice = async function (descriptor = {}) {
    const extra = [...(descriptor.requiredFeatures ?? [])].filter(isExtra);
    if (extra.length > 0) throw new TypeError(`no such features: ${extra}`);
    return requestDevice.call(this, descriptor);
  };

  for (const type of [GPUComputePassEncoder, GPURenderPassEncoder, GPURenderBundleEncoder]) {
    Reflect.deleteProperty(type.prototype, "setImmediates");
  }
}

// Removes names from an object's set of names.
function narrow(prototype, property, keep) {
  const { get } = /** @type {PropertyDescriptor} */ (
    Object.getOwnPropertyDescriptor(prototype, property)
  );
  Object.defineProperty(prototype, property, {
    configurable: true,
    get() {
      return new Set([.../** @type {() => Set<string>} */ (get).call(this)].filter(keep));
    },
  });
}
