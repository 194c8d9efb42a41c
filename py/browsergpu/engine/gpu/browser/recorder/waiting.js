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

// Waits until the GPU has finished the recorded work. Does not raise errors, which other waits
// raise.
export async function catchUp() {
  await encoded();
  noteWaiting(true);
  submit();
  await submittedWorkDone();
  noteWaiting(false);
}
