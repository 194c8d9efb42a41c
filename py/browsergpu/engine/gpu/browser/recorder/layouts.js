// Layouts of bind groups and pipelines, each created once.

/** @type {Map<string, SharedLayout>} by signature */
export const layouts = new Map();

/** @type {Record<string, GPUBufferBindingType>} */
const BINDING_TYPES = { r: "read-only-storage", w: "storage", u: "uniform" };

/** @param {string} signature */
export function layoutFor(signature) {
  let entry = layouts.get(signature);
  if (!entry) {
    const bindings = [...signature.matchAll(/(\d+)([rwu])/g)].map(([, binding, access]) => ({
      binding: Number(binding),
      visibility: GPUShaderStage.COMPUTE,
      buffer: { type: BINDING_TYPES[access] },
    }));
    const layout = device.createBindGroupLayout({ entries: bindings, label: signature });
    entry = { layout, bindings, pipelineLayouts: new Map(), groups: new Map() };
    layouts.set(signature, entry);
  }
  return entry;
}

export const uniformLayout = device.createBindGroupLayout({
  entries: [{
    binding: 0,
    visibility: GPUShaderStage.COMPUTE,
    buffer: { type: "uniform", hasDynamicOffset: true },
  }],
  label: "parameters",
});

/** @param {SharedLayout} shared @param {number} immediateBytes @param {boolean} uniform */
export function pipelineLayoutFor(shared, immediateBytes, uniform) {
  const key = uniform ? "uniform" : immediateBytes;
  let layout = shared.pipelineLayouts.get(key);
  if (!layout) {
    const bindGroupLayouts = uniform ? [shared.layout, uniformLayout] : [shared.layout];
    layout = device.createPipelineLayout({
      bindGroupLayouts,
      label: `parameters: ${uniform ? "uniform" : `${immediateBytes} bytes`}`,
      ...(immediateBytes && { immediateSize: immediateBytes }),
    });
    shared.pipelineLayouts.set(key, layout);
  }
  return layout;
}
