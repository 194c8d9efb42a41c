// The open batch: encodes commands into one command encoder, and submits them.
import { bindGroupFor } from "./bindgroups.js";
import { bufferOf } from "./buffers.js";
import { dispatchTiming, passTiming, profile } from "./clock.js";
import { CLEAR, HEADER } from "./commands.js";
import { counters } from "./counters.js";
import { diagnose } from "./diagnosis.js";
import { report, scoped, track } from "./errors.js";
import { lost, unlessLost } from "./loss.js";
import { nudged } from "./nudges.js";
import { isWorthSending, newPace, noteEncoded, noteSent } from "./pace.js";
import { FIRST_PIPELINE, stepOf } from "./pipelines.js";
import { noteSubmitted, queue } from "./queue.js";
import { sendUniforms, uniformGroup, uniformOffset } from "./uniforms.js";

/** @type {GPUCommandEncoder | null} */
let encoder = null;
/** @type {GPUComputePassEncoder | null} */
let pass = null;
export let batch = 0; // its number, which marks buffers and pipelines of unsubmitted work
export let batchDispatches = 0;
/** @type {Uint32Array<ArrayBuffer>[]} copies of the batch's commands, to find an invalid one */
let batchWords = [];
/** @type {Step | null} */
let lastPipeline = null;
/** @type {object | null} */
let lastGroup = null;
// The pass's immediates, which persist when the pipeline changes, and the number of set ones.
const immediates = new Uint32Array(16);
let immediateCount = 0;
const copying = newPace();

export function openEncoder() {
  return (encoder ??= device.createCommandEncoder({ label: "batch" }));
}

export function endPass() {
  if (pass !== null) {
    pass.end();
    pass = lastPipeline = lastGroup = null;
    immediateCount = 0;
  }
}

// haveWaited: the commands waited for their pipelines, whose errors have been reported.
/** @param {Uint32Array<ArrayBuffer>} words @param {boolean} haveWaited */
export function encodeWords(words, haveWaited) {
  batchWords.push(words);
  const { length } = words;
  for (let at = 0; at < length;) at = encodeOne(words, at, haveWaited);
  if (batchDispatches >= options.dispatchesPerSubmit || isWorthSending()) submit();
}

// Returns the position of the next command.
/** @param {Uint32Array<ArrayBuffer>} words @param {number} at @param {boolean} haveWaited */
function encodeOne(words, at, haveWaited) {
  const id = words[at];
  if (id < FIRST_PIPELINE) return encodeTransfer(words, at, id);
  const step = stepOf(id);
  const bindingsAt = at + HEADER;
  const parametersAt = bindingsAt + step.bindingWords;
  if (step.failure !== null) { // it would invalidate the whole batch
    if (!haveWaited) report(...step.failure);
    step.wanted = true;
    if (profile !== null) profile.dispatches += 1;
    return parametersAt + step.words;
  }
  step.batch = batch;
  const cached = bindGroupFor(step, words, bindingsAt);
  if (cached.batch !== batch) {
    cached.batch = batch;
    for (const entry of cached.entries) entry.batch = batch;
  }
  if (profile !== null) beginProfiledPass(profile);
  if (pass === null) pass = openEncoder().beginComputePass(passTiming());
  if (step !== lastPipeline) {
    pass.setPipeline(/** @type {GPUComputePipeline} */ (step.pipeline));
    lastPipeline = step;
  }
  if (cached !== lastGroup) {
    pass.setBindGroup(0, cached.group);
    lastGroup = cached;
  }
  if (step.uniform) {
    const offset = uniformOffset(words, parametersAt, step.words);
    pass.setBindGroup(1, uniformGroup, [offset]);
  } else if (step.words > 0) {
    setImmediates(pass, words, parametersAt, step.words);
  }
  pass.dispatchWorkgroups(words[at + 1], words[at + 2], words[at + 3]);
  noteEncoded(step.pace, words[at + 1] * words[at + 2] * words[at + 3], haveWaited);
  counters.dispatches += 1;
  batchDispatches += 1;
  if (profile !== null) {
    if (!profile.timestamps) timeByWall(profile);
    profile.dispatches += 1;
  }
  return parametersAt + step.words;
}

// Sets the first `count` immediates, unless they have these values already: a chain of operations
// on arrays of one size repeats the same parameters.
/**
 * @param {GPUComputePassEncoder} open
 * @param {Uint32Array<ArrayBuffer>} words
 * @param {number} at
 * @param {number} count
 */
function setImmediates(open, words, at, count) {
  let same = count <= immediateCount;
  for (let i = 0; same && i < count; i++) same = immediates[i] === words[at + i];
  if (same) return;
  open.setImmediates(0, words, at, count);
  for (let i = 0; i < count; i++) immediates[i] = words[at + i];
  immediateCount = Math.max(immediateCount, count);
}

/** @param {Uint32Array} words @param {number} at @param {number} id */
function encodeTransfer(words, at, id) {
  endPass();
  counters.copies += 1;
  batchDispatches += 1;
  if (id === CLEAR) {
    const entry = bufferOf(words[at + 1]);
    entry.batch = batch;
    openEncoder().clearBuffer(entry.buffer, words[at + 2], words[at + 3]);
    noteEncoded(copying, words[at + 3], false);
    return at + 4;
  }
  const source = bufferOf(words[at + 1]);
  const target = bufferOf(words[at + 3]);
  source.batch = target.batch = batch;
  openEncoder().copyBufferToBuffer(
    source.buffer, words[at + 2], target.buffer, words[at + 4], words[at + 5]);
  noteEncoded(copying, words[at + 5], false);
  return at + 6;
}

/** @param {string} op name of the operation, for errors @param {() => void} [whenDropped] */
export function submit(op = "submit", whenDropped = undefined) {
  endPass();
  if (encoder === null || lost !== null) return;
  const words = batchWords;
  const open = encoder;
  const dispatches = batchDispatches;
  encoder = null;
  batchWords = [];
  batch += 1;
  batchDispatches = 0;
  sendUniforms();
  noteSent();
  counters.submits += 1;
  scoped(op, () => queue.submit([open.finish()]), (error) => {
    whenDropped?.();
    return diagnose(words, op, error);
  });
  noteSubmitted(dispatches);
}

// ---- profiling: a pass for each dispatch ----

/** @param {Profile} mine */
function beginProfiledPass(mine) {
  endPass();
  if (mine.timestamps) pass = openEncoder().beginComputePass(dispatchTiming(mine));
}

// Wall time: each dispatch is submitted separately. Its span starts when the previous one ends.
/** @param {Profile} mine */
function timeByWall(mine) {
  const begun = performance.now() * 1e6;
  /** @type {Span} */
  const span = [begun, begun];
  const number = mine.dispatches;
  mine.spans.set(number, span);
  submit("submit", () => mine.spans.delete(number));
  track(unlessLost(nudged(queue.onSubmittedWorkDone())).then(() => {
    span[0] = Math.max(begun, mine.lastEnd);
    span[1] = mine.lastEnd = performance.now() * 1e6;
  }));
}
