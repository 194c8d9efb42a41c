// Which command made a batch invalid.
import { bindGroupFor } from "./bindgroups.js";
import { buffers } from "./buffers.js";
import { HEADER, commands } from "./commands.js";
import { report } from "./errors.js";
import { uniformGroup } from "./uniforms.js";

// An invalid command drops its whole batch, and WebGPU does not say which one it was: encode
// each dispatch alone, without submitting it, to name the op.
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
        // What is wrong with a refused pipeline was reported when it was made.
        if (!step.refused) report("validation", step.label, error.message);
        return;
      }
    }
  }
  report("validation", batchOp, batchError.message);
}
