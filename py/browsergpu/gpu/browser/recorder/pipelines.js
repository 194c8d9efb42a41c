// The table of pipelines, and how they are compiled. What is wrong with a shader is reported with
// its place in its file, once a command needs the pipeline.
import { counters } from "./counters.js";
import { report, scoped, track } from "./errors.js";
import { layoutFor, pipelineLayoutFor } from "./layouts.js";
import { newPace } from "./pace.js";

export const FIRST_PIPELINE = 16;

/** @type {Map<number, Step>} by their ids, from FIRST_PIPELINE on; freeing.js takes them out */
export const pipelines = new Map();
let nextId = FIRST_PIPELINE; // no id comes twice
export let compiling = 0; // pipelines

// The pipeline that Python means. It names none that is not there.
/** @param {number} id */
export function stepOf(id) {
  return /** @type {Step} */ (pipelines.get(id));
}

// Compiles without blocking: commands that need the pipeline wait for it; `compiled` is called when
// they need not any more. One that is made ahead, in case it is needed, reports its failure only
// once it is.
/** @param {PipelineSpec} spec @param {boolean} ahead @param {() => void} compiled */
export function addPipeline(spec, ahead, compiled) {
  const shared = layoutFor(spec.signature);
  const uniform = spec.parameterBytes > 0 && !spec.immediate;
  const immediateBytes = spec.immediate ? spec.parameterBytes : 0;
  device.pushErrorScope("validation"); // what is wrong with the code, the pipeline's error tells
  const module = device.createShaderModule({ code: spec.code, label: spec.file });
  device.popErrorScope().catch(() => {});
  /** @type {Step} */
  const step = {
    id: nextId++, label: spec.label, sections: spec.sections, recorded: spec.recorded, module, shared,
    bindings: shared.bindings.length,
    sized: spec.sized, bindingWords: (spec.sized ? 2 : 1) * shared.bindings.length,
    keyWidth: 2 ** Math.floor(53 / shared.bindings.length),
    words: spec.parameterBytes / 4, uniform, pace: newPace(), pipeline: null, wanted: !ahead,
    refused: false, failure: null, batch: -1,
    compiling: Promise.resolve(),
    descriptor: {
      label: spec.label,
      layout: pipelineLayoutFor(shared, immediateBytes, uniform),
      compute: { module, entryPoint: spec.entryPoint, constants: spec.constants },
    },
  };
  step.compiling = compile(step).then(compiled);
  if (step.wanted) track(step.compiling);
  counters.pipelines_created += 1;
  pipelines.set(step.id, step);
  return step.id;
}

/** @param {Step} step */
async function compile(step) {
  const started = performance.now();
  compiling += 1;
  try {
    const pipeline = await device.createComputePipelineAsync(descriptorOf(step));
    step.pipeline ??= pipeline;
    step.descriptor = step.module = null;
  } catch (error) {
    if (step.pipeline === null) await refuse(step, /** @type {Error} */ (error).message);
  }
  compiling -= 1;
  noteCompiled(started);
}

// For who cannot wait. What is compiled already in the background is then compiled twice.
/** @param {Step} step */
export function compileNow(step) {
  step.pipeline = scoped(step.label, () => device.createComputePipeline(descriptorOf(step)),
    (error) => refuse(step, error.message));
}

/** @param {Step} step */
export function isCompiling(step) {
  return step.pipeline === null && step.failure === null;
}

// 1: compiled, 0: being compiled, -1: refused.
/** @param {number} id */
export function stateOf(id) {
  const step = stepOf(id);
  if (step.refused) return -1;
  return step.pipeline === null ? 0 : 1;
}

/** @param {Step} step one that is not compiled */
function descriptorOf(step) {
  return /** @type {GPUComputePipelineDescriptor} */ (step.descriptor);
}

// ---- what is wrong with a shader ----

/** @param {Step} step @param {string} message */
async function refuse(step, message) {
  const { id, module, label } = step;
  step.refused = true;
  const info = await /** @type {GPUShaderModule} */ (module).getCompilationInfo().catch(() => null);
  if (info === null) return; // the device is lost
  const first = info.messages.find((m) => m.type === "error");
  const place = { ...fileAndLine(step, first?.lineNum ?? 0), column: first?.linePos ?? 0 };
  step.failure = ["shader", label, (first?.message ?? message).trim(), { ...place, pipeline: id }];
  if (step.wanted) report(...step.failure);
}

// Where a line of a step's code comes from, and which line of Python has brought it. Line 0 stands
// for no line.
/** @param {Step} step @param {number} line */
function fileAndLine(step, line) {
  const { sections } = step;
  const [file, begin, recorded] = sections.findLast(([, first]) => first <= line) ?? sections[0];
  return { file, line: line && line - begin + 1, recorded: recorded || step.recorded };
}

// ---- how long it takes ----

// Milliseconds from asking for a pipeline until it was there, without counting a moment twice
// when several are made at once. The browser tells no compile time of its own.
export let compileMs = 0;
let compileEnd = 0;

/** @param {number} started */
function noteCompiled(started) {
  const now = performance.now();
  compileMs += now - Math.max(started, compileEnd);
  compileEnd = now;
}
