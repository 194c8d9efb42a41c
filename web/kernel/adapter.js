/** Description of the GPU for the status bar. */

/** Return the adapter as plain data, or null if there is none. */
export async function describeAdapter(gpu = navigator.gpu) {
  const adapter = await gpu?.requestAdapter({ powerPreference: "high-performance" });
  if (!adapter) return null;
  const { vendor, architecture, device, description } = adapter.info;
  return {
    vendor, architecture, device, description,
    features: [...adapter.features].sort(),
  };
}
