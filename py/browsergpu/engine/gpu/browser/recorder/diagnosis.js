// Finds the command that made a batch invalid.
import { bindGroupFor } from "./bindgroups.js";
import { buffers } from "./buffers.js";
import { HEADER, commands } from "./commands.js";
import { report } from "./errors.js";
import { uniformGroup } from "./uniforms.js";

// An invalid command makes WebGPU drop its whole batch without naming the command. So each dispatch
// is encoded separately, without submitting it, to name the operation.
/** @param {Uint32Array<ArrayBuffer>[]} batches @param {string} batchOp @param {GPUError} batchError */
export async function diagnose(batches, batchOp, batchError) {
  for (const words of batches) {
    for (const { at, step, ids } of commands(words)) {
      if (step === null || step.pipeline === null) continue;
      const bindingsAt = at + HEADER;
      device.pushErrorScope("validation");
      const trial = device.createCommandEncoder();
      const trialPass = trial.beginComputePass();
      trialPass.setPipeline(step.pipeline);
      const known = ids.every((id) => buffers.has(id));
      if (known) trialPass.setBindGroup(0, bindGroupFor(step, words, bindingsAt).group);
      if (step.uniform) trialPass.setBindGroup(1, uniformGroup, [0]);
      else if (step.words > 0) {
        trialPass.setImmediates(0, words, bindingsAt + step.bindingWords, step.words);
      }
      trialPass.dispatchWorkgroups(words[at + 1], words[at + 2], words[at + 3]);
      trialPass.end();
      trial.finish();
      const error = await device.popErrorScope();
      if (error && known) {
        // Errors of a refused pipeline were reported when it was created.
        if (!step.refused) report("validation", step.label, error.message);
        return;
      }
    }
  }
  report("validation", batchOp, batchError.message);
}
