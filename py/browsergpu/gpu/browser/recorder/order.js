// The order of what Python asks for. Commands are encoded at once, unless a pipeline of theirs is
// still being compiled: then they wait, and everything after them waits too.
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

const MOST_WAITING = 64; // batches that wait for a pipeline; then it is compiled at once

/** @typedef {{words: Uint32Array<ArrayBuffer>, run?: undefined}} WaitingCommands */
/** @typedef {{words?: undefined, run: () => void, id?: number}} WaitingWork id: its buffer's */

/** @type {(WaitingCommands | WaitingWork)[]} in order */
const waiting = [];
atTheEnd(() => {
  waiting.length = 0;
});

/** @param {string} specJson a PipelineSpec @param {boolean} ahead of need */
export function createPipeline(specJson, ahead) {
  return addPipeline(JSON.parse(specJson), ahead, encodeWaiting);
}

const LOST = 1;
const AHEAD = 2;

// Takes the first `end` words of the ring. Returns LOST when the device is, AHEAD when Python should
// catchUp before it records more, else 0.
/** @param {number} end */
export function record(end) {
  if (lost !== null) return LOST;
  const words = ringWords().slice(0, end);
  noteCaptured(words);
  take(words);
  return howFar();
}

// Takes what was captured once more, with other words in some places; returns what record does.
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

// Whether a command that waits uses a buffer.
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

// Everything recorded so far goes to the GPU, now.
export function sendNow() {
  compileAwaited();
  submit();
}

// Everything recorded so far goes to the GPU, when it can.
export function send() {
  if (waiting.length > 0) waiting.push({ run: submit });
  else submit();
}

// Runs work, which uses a buffer, once everything recorded so far has been encoded.
/** @param {number | undefined} id @param {() => void} work */
export async function inOrder(id, work) {
  if (waiting.length === 0) work();
  else await unlessLost(new Promise((done) => waiting.push({ id, run: () => done(work()) })));
}

// Resolves when everything recorded so far has been encoded.
export function encoded() {
  return inOrder(undefined, () => {});
}

// Commands that the GPU is not known to have done.
export function unfinished() {
  let count = batchDispatches + unfinishedDispatches();
  for (const { words } of waiting) if (words !== undefined) count += [...commands(words)].length;
  return count;
}
