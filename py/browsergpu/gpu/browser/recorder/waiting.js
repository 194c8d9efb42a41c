// Waiting for the GPU.
import { submit } from "./encoding.js";
import { beginWait, settle } from "./errors.js";
import { encoded } from "./order.js";
import { noteWaiting } from "./pace.js";
import { submittedWorkDone } from "./queue.js";

/** @param {number} ticket */
export async function synchronize(ticket) {
  beginWait(ticket);
  await encoded();
  submit();
  await submittedWorkDone();
  await settle();
}

// Until the GPU has done what was recorded. It says nothing of errors, which others wait for.
export async function catchUp() {
  await encoded();
  noteWaiting(true);
  submit();
  await submittedWorkDone();
  noteWaiting(false);
}
