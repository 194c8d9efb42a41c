// The recorder, in JavaScript: keeps the tables of real WebGPU objects, decodes Python's packed
// commands into one open compute pass, submits, and reads back. recorder.py is its other half.
//
// Python refers to everything by small integers. One call hands over a whole batch:
//   dispatch  [pipeline id, x, y, z, buffer id × bindings, parameter word × parameters];
//             sized pipelines, of users' kernels, have after the ids how many words to bind of each,
//             0 for all
//   copy      [0, source id, source offset, destination id, destination offset, bytes]
//   clear     [1, buffer id, offset, bytes]
// The ring's last word is no command: it becomes 1 when the device is lost, so that Python sees that
// without a call.
//
// When the wheel is built, tools/join_recorder.py joins these modules into the body of one function,
// createRecorder(device, ring, options): what is global in a module is one recorder's own. A module
// imports from those before it only:
//   ring counters loss     the view on Python's memory; what was done; when the device is gone
//   errors pace            what the GPU reported, and which wait is told it; how far behind it is
//   nudges                 has the browser look whether the GPU is done
//   buffers layouts        tables of buffers and of layouts
//   pipelines commands     the table of pipelines, how they compile; the form of the commands
//   captures               commands that are kept, to be replayed
//   bindgroups             one per layout and buffers
//   queue uniforms         what the GPU has done; parameters where there are no immediates
//   clock diagnosis        how passes are timed; which command made a batch invalid
//   encoding               the open batch: the loop that decodes commands, and submit
//   staging chunks         mappable buffers; reads that are on their way
//   order                  commands and work that wait for pipelines
//   freeing uploads reads  how buffers and pipelines go; host to device; device to host
//   waiting canvas         until the GPU is done; a buffer shown as a picture
//   queries timing profile the GPU's times
//   spans                  and those of single programs, that nobody waits for
import { liveGroups } from "./bindgroups.js";
import { buffers, createBuffer, createBufferChecked, labelBuffer } from "./buffers.js";
import { afterNextFrame, draw } from "./canvas.js";
import { dropCapture, dropCaptures, startCapture, stopCapture } from "./captures.js";
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

// Destroys the idle staging buffers, and those for uploads once they have been used.
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

export default {
  createBuffer, destroyBuffer, createPipeline, dropPipeline, record, submit: send, write, read,
  stopWait, synchronize, catchUp, takeErrors, draw, close, statistics, startTiming, stopTiming,
  startProfile, stopProfile, createBufferChecked, abandonBuffer, labelBuffer, trimStaging,
  compiled: (/** @type {number} */ id) => unlessLost(stepOf(id).compiling),
  compileMs: () => compileMs,
  unfinished, startCapture, stopCapture, dropCapture, replay, stateOf, startSpan, endSpan, takeSpans,
};
