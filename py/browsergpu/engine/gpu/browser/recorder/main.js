// The recorder in JavaScript: keeps the tables of WebGPU objects, encodes Python's packed commands
// into one open compute pass, submits, and reads back. recorder.py is its other half.
//
// Python refers to objects by small integers. One call passes a whole batch:
//   dispatch  [pipeline id, x, y, z, buffer id × bindings, parameter word × parameters];
//             sized pipelines, of custom kernels, have after the ids the number of words to bind of
//             each buffer, 0 for all
//   copy      [0, source id, source offset, destination id, destination offset, bytes]
//   clear     [1, buffer id, offset, bytes]
// The ring's last word is not a command. It becomes 1 when the device is lost, so that Python sees
// the loss without a call.
//
// When the wheel is built, tools/join_recorder.py joins these modules into the body of one
// function, createRecorder(device, ring, options). Module globals belong to one recorder. A module
// imports only from those before it:
//   ring counters loss     the view of Python's memory; counts of events; loss of the device
//   errors pace            reported errors and the waits that raise them; how far behind the GPU is
//   nudges                 makes the browser check whether the GPU is done
//   buffers layouts        tables of buffers and of layouts
//   pipelines commands     the table of pipelines, and compilation; the format of commands
//   captures               captured commands, to be replayed
//   bindgroups             one for each layout and buffers
//   queue uniforms         finished work; parameters where there are no immediates
//   clock diagnosis        timestamp writes of passes; the search for an invalid command
//   encoding               the open batch: the loop that encodes commands, and submit
//   staging chunks         mappable buffers; reads in progress
//   order                  commands and work that wait for pipelines
//   freeing uploads reads  removal of buffers and pipelines; host to device; device to host
//   waiting canvas         waits for the GPU; a buffer drawn as a picture
//   queries timing profile GPU times
//   spans                  GPU times of single programs, without waiting
import { liveGroups } from "./bindgroups.js";
import { buffers, createBuffer, createBufferChecked, labelBuffer } from "./buffers.js";
import { afterNextFrame, draw } from "./canvas.js";
import {
  divideCapture, dropCapture, dropCaptures, startCapture, stopCapture,
} from "./captures.js";
import { counters } from "./counters.js";
import { submit } from "./encoding.js";
import { errors, pending, takeErrors } from "./errors.js";
import { abandonBuffer, destroyBuffer, destroyBuffers, dropPipeline } from "./freeing.js";
import { layouts } from "./layouts.js";
import { endByClosing, lost, unlessLost } from "./loss.js";
import { createPipeline, record, replay, send, unfinished } from "./order.js";
import { compileMs, pipelines, stateOf, stepOf } from "./pipelines.js";
import { startProfile, stopProfile } from "./profile.js";
import { read, stopWait } from "./reads.js";
import { releaseRing } from "./ring.js";
import { endSpan, startSpan, takeSpans } from "./spans.js";
import { dropIdleStaging, stagingBuffers } from "./staging.js";
import { startTiming, stopTiming } from "./timing.js";
import { destroyUniforms } from "./uniforms.js";
import { dropUploads, uploads, write } from "./uploads.js";
import { catchUp, synchronize } from "./waiting.js";

// Destroys the idle staging buffers, and the upload buffers once they have been used.
function trimStaging() {
  dropIdleStaging();
  dropUploads();
}

function close() {
  if (lost === null) submit();
  endByClosing();
  destroyBuffers();
  trimStaging();
  destroyUniforms();
  dropCaptures();
  layouts.clear();
  releaseRing();
  if (counters.draws > 0) afterNextFrame(() => device.destroy());
  else device.destroy();
}

function statistics() {
  return JSON.stringify({
    ...counters, buffers: buffers.size, bind_groups: liveGroups, pipelines: pipelines.size,
    staging: stagingBuffers() + uploads.size, waiting: pending.size, errors: errors.length,
  });
}

// Pyodide makes a future of asyncio of a promise that a function returns. In an array, it stays a
// promise, for which Python waits in less time (waiting.py).
/**
 * @template {unknown[]} A
 * @template T
 * @param {(...args: A) => Promise<T>} work
 * @returns {(...args: A) => [Promise<T>]}
 */
const boxed = (work) => (...args) => [work(...args)];

export default {
  createBuffer, destroyBuffer, createPipeline, dropPipeline, record, submit: send, write,
  read: boxed(read), stopWait, synchronize: boxed(synchronize), catchUp: boxed(catchUp),
  takeErrors, draw, close, statistics, startTiming, stopTiming,
  startProfile, stopProfile, createBufferChecked, abandonBuffer, labelBuffer, trimStaging,
  compiled: (/** @type {number} */ id) => unlessLost(stepOf(id).compiling),
  compileMs: () => compileMs,
  unfinished, startCapture, stopCapture, divideCapture, dropCapture, replay, stateOf, startSpan,
  endSpan, takeSpans,
};
