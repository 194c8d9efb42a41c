// Waiting for the GPU.
import { submit } from "./encoding.js";
import { beginWait, settle } from "./errors.js";
import { encoded } from "./order.js";
import { submittedWorkDone } from "./queue.js";

/** @param {number} ticket */
export async function synchronize(ticket) {
  beginWait(ticket);
  await encoded();
  submit();
  await submittedWorkDone();
  await settle();
}
