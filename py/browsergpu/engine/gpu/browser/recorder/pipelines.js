// The table of pipelines, and their compilation. Shader errors are reported with their position in
// the file, once a command needs the pipeline.
import { counters } from "./counters.js";
import { report, scoped, track } from "./errors.js";
import { layoutFor, pipelineLayoutFor } from "./layouts.js";
import { newPace } from "./pace.js";

export const FIRST_PIPELINE = 16;

/** @type {Map<number, Step>} by id, from FIRST_PIPELINE on; freeing.js removes them */
export const pipelines = new Map();
let nextId = FIRST_PIPELINE; // ids are unique
export let compiling = 0; // pipelines

// The pipeline with an id. Python uses only ids of existing pipelines.
/** @param {number} id */
export function stepOf(id) {
  return /** @type {Step} */ (pipelines.get(id));
}

// Compiles without blocking. Commands that need the pipeline wait for it; `compiled` is called when
// they need not wait any more. A pipeline that is compiled ahead of need reports its failure only
// when it is needed.
/** @param {PipelineSpec} spec @param {boolean} ahead @param {() => void} compiled */
export function addPipeline(spec, ahead, compiled) {
  const shared = layoutFor(spec.signature);
  const uniform = spec.parameterBytes > 0 && !spec.immediate;
  const immediateBytes = spec.immediate ? spec.parameterBytes : 0;
  device.pushErrorScope("validation"); // the pipeline's error reports errors of the code
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

// For callers that cannot wait. A pipeline that is being compiled in the background is compiled
// twice.
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

/** @param {Step} step must not be compiled yet */
function descriptorOf(step) {
  return /** @type {GPUComputePipelineDescriptor} */ (step.descriptor);
}

// ---- shader errors ----

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

// The file and line from which a line of a step's code comes, and the line of Python that supplied
// it. Line 0 means unknown.
/** @param {Step} step @param {number} line */
function fileAndLine(step, line) {
  const { sections } = step;
  const [file, begin, recorded] = sections.findLast(([, first]) => first <= line) ?? sections[0];
  return { file, line: line && line - begin + 1, recorded: recorded || step.recorded };
}

// ---- compilation time ----

// Milliseconds from requests for pipelines to their results, with overlapping times counted once.
// The browser reports no compile time of its own.
export let compileMs = 0;
let compileEnd = 0;

/** @param {number} started */
function noteCompiled(started) {
  const now = performance.now();
  compileMs += now - Math.max(started, compileEnd);
  compileEnd = now;
}
