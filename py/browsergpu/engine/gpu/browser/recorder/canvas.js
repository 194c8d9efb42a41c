// Drawing a buffer on a canvas.
import { bufferOf } from "./buffers.js";
import { counters } from "./counters.js";
import { openEncoder, submit } from "./encoding.js";
import { scoped } from "./errors.js";
import { sendNow } from "./order.js";

/** @typedef {(HTMLCanvasElement | OffscreenCanvas) & Record<symbol, GPUCanvasContext | null>} DrawnCanvas */

const LONGEST_FRAME = 1000; // ms

/** @type {Map<GPUTextureFormat, GPURenderPipeline>} */
const painters = new Map();

/** @param {GPUTextureFormat} format @param {string} code */
function painterFor(format, code) {
  let pipeline = painters.get(format);
  if (!pipeline) {
    const module = device.createShaderModule({ code, label: "draw.wgsl" });
    pipeline = device.createRenderPipeline({
      label: "draw", layout: "auto",
      vertex: { module, entryPoint: "corner" },
      fragment: { module, entryPoint: "paint", targets: [{ format }] },
    });
    painters.set(format, pipeline);
  }
  return pipeline;
}

// In Firefox, a worker can get the context of a page's canvas only once, for all devices.
const CONTEXT = Symbol.for("browsergpu context");

// The canvas is configured again if another device has drawn on it since.
/** @param {DrawnCanvas} canvas @param {GPUTextureFormat} format */
function contextOf(canvas, format) {
  const context = canvas[CONTEXT]
    ?? /** @type {GPUCanvasContext | null} */ (canvas.getContext("webgpu"));
  canvas[CONTEXT] = context;
  if (context && context.getConfiguration()?.device !== device) {
    context.configure({ device, format, alphaMode: "premultiplied" });
  }
  return context;
}

// Returns "", or the reason why the canvas cannot be drawn on.
/**
 * @param {DrawnCanvas} canvas
 * @param {number} id
 * @param {number} height
 * @param {number} width
 * @param {number} channels
 * @param {string} code the shader draw.wgsl
 */
export function draw(canvas, id, height, width, channels, code) {
  const format = navigator.gpu.getPreferredCanvasFormat();
  const context = contextOf(canvas, format);
  if (context === null) return "it already has a context of another kind (2d or webgl)";
  canvas.width = width;
  canvas.height = height;
  sendNow(); // so that errors of earlier commands are not attributed to drawing
  scoped("draw", () => {
    const pipeline = painterFor(format, code);
    const size = device.createBuffer({
      size: 16, usage: GPUBufferUsage.UNIFORM, mappedAtCreation: true, label: "draw",
    });
    new Uint32Array(size.getMappedRange()).set([height, width, channels, 0]);
    size.unmap();
    const group = device.createBindGroup({
      layout: pipeline.getBindGroupLayout(0),
      label: "draw",
      entries: [
        { binding: 0, resource: { buffer: bufferOf(id).buffer } },
        { binding: 1, resource: { buffer: size } },
      ],
    });
    const target = context.getCurrentTexture().createView();
    const paint = openEncoder().beginRenderPass({
      colorAttachments: [{ view: target, loadOp: "clear", storeOp: "store" }],
    });
    paint.setPipeline(pipeline);
    paint.setBindGroup(0, group);
    paint.draw(3);
    paint.end();
    submit("draw");
    size.destroy();
  });
  counters.draws += 1;
  canvas.dispatchEvent(new Event("draw")); // lets the page react
  return "";
}

// A picture appears on its canvas with the next frame, if the device still exists then. A hidden
// page has no frames.
/** @param {() => void} work */
export function afterNextFrame(work) {
  let waits = true;
  const once = () => {
    if (waits) work();
    waits = false;
  };
  setTimeout(once, LONGEST_FRAME);
  globalThis.requestAnimationFrame?.(() => requestAnimationFrame(once));
}
