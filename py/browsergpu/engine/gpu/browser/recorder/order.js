// The order of Python's calls. Commands are encoded at once, unless one of their pipelines is still
// being compiled. Then they wait, and everything after them waits too.
import { captured, noteCaptured } from "./captures.js";
import { sendPartialReads } from "./chunks.js";
import { isTimed } from "./clock.js";
import { commands } from "./commands.js";
import { batchDispatches, encodeWords, submit } from "./encoding.js";
import { report, track } from "./errors.js";
import { atTheEnd, lost, unlessLost } from "./loss.js";
import { isAhead, noteAsked } from "./pace.js";
import { addPipeline, compileNow, compiling, isCompiling } from "./pipelines.js";
import { unfinishedDispatches } from "./queue.js";
import { ringWords } from "./ring.js";

const MOST_WAITING = 64; // batches that wait for a pipeline before it is compiled synchronously

/** @typedef {{words: Uint32Array<ArrayBuffer>, run?: undefined}} WaitingCommands */
/** @typedef {{words?: undefined, run: () => void, id?: number}} WaitingWork id: of its buffer */

/** @type {(WaitingCommands | WaitingWork)[]} in order */
const waiting = [];
atTheEnd(() => {
  waiting.length = 0;
});

/** @param {string} specJson a PipelineSpec @param {boolean} ahead whether it is not needed yet */
export function createPipeline(specJson, ahead) {
  return addPipeline(JSON.parse(specJson), ahead, encodeWaiting);
}

const LOST = 1;
const AHEAD = 2;

// Takes the first `end` words of the ring. Returns LOST if the device is lost, AHEAD if Python
// should call catchUp before it records more, else 0.
/** @param {number} end */
export function record(end) {
  if (lost !== null) return LOST;
  const words = ringWords().slice(0, end);
  noteCaptured(words);
  take(words);
  return howFar();
}

// Takes a capture's commands again, with some words replaced. Returns the same as record.
/** @param {number} id @param {string} changes as JSON */
export function replay(id, changes) {
  if (lost !== null) return LOST;
  for (const words of captured(id, JSON.parse(changes))) take(words);
  return howFar();
}

/** @param {Uint32Array<ArrayBuffer>} words */
function take(words) {
  if (waiting.length > 0 || (compiling > 0 && !isReady(words))) wait(words);
  else encode(words);
}

function howFar() {
  return isAhead() && !isTimed() ? AHEAD : 0;
}

/** @param {Uint32Array<ArrayBuffer>} words */
function encode(words, haveWaited = false) {
  sendPartialReads();
  encodeWords(words, haveWaited);
}

/** @param {Uint32Array} words */
function isReady(words) {
  for (const { step } of commands(words)) if (step !== null && isCompiling(step)) return false;
  return true;
}

/** @param {Uint32Array<ArrayBuffer>} words */
function wait(words) {
  for (const { step } of commands(words)) {
    if (step === null) continue;
    if (step.failure !== null) report(...step.failure);
    else {
      if (!step.wanted) track(step.compiling);
      noteAsked(step.pace);
    }
    step.wanted = true;
  }
  waiting.push({ words });
  if (waiting.length > MOST_WAITING) compileAwaited();
}

// Whether a waiting command uses a buffer.
/** @param {number} id */
export function isAwaited(id) {
  return waiting.some((item) => {
    if (item.words === undefined) return item.id === id;
    for (const { ids } of commands(item.words)) if (ids.includes(id)) return true;
    return false;
  });
}

function encodeWaiting() {
  while (waiting.length > 0 && lost === null) {
    const { words, run } = waiting[0];
    if (words !== undefined && !isReady(words)) return;
    waiting.shift();
    if (words === undefined) run();
    else encode(words, true);
  }
}

export function compileAwaited() {
  for (const { words } of waiting) {
    if (words === undefined) continue;
    for (const { step } of commands(words)) {
      if (step !== null && isCompiling(step)) compileNow(step);
    }
  }
  encodeWaiting();
}

// Submits everything recorded so far, at once.
export function sendNow() {
  compileAwaited();
  submit();
}

// Submits everything recorded so far, as soon as its pipelines are compiled.
export function send() {
  if (waiting.length > 0) waiting.push({ run: submit });
  else submit();
}

// Runs work that uses a buffer, after everything recorded so far has been encoded.
/** @param {number | undefined} id @param {() => void} work */
export async function inOrder(id, work) {
  if (waiting.length === 0) work();
  else await unlessLost(new Promise((done) => waiting.push({ id, run: () => done(work()) })));
}

// Runs work that uses a buffer, after the waiting commands.
/** @param {number} id @param {() => void} run */
export function afterWaiting(id, run) {
  waiting.push({ id, run });
}

// Resolves when everything recorded so far has been encoded.
export function encoded() {
  return inOrder(undefined, () => {});
}

// The number of commands that the GPU is not known to have finished.
export function unfinished() {
  let count = batchDispatches + unfinishedDispatches();
  for (const { words } of waiting) if (words !== undefined) count += [...commands(words)].length;
  return count;
}
