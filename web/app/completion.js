/** Completion for the editor: the live interpreter when it is idle, and the cell's own names. */
import { globalCompletion, localCompletionSource } from "@codemirror/lang-python";

const VALID = /^\w*$/;

function trigger(context) {
  return context.explicit || context.matchBefore(/[\w.]$|\[["'][^"'\]]*$|\bimport $|\bfrom $/);
}

/** A CodeMirror completion source that asks `kernel` and never waits for a busy one. */
export function completionSource(kernel) {
  return async (context) => {
    if (!trigger(context)) return null;
    const before = context.state.sliceDoc(0, context.pos);
    const live = await kernel.complete(before);
    const local = localCompletionSource(context);
    if (live === null) return local ?? globalCompletion(context);
    const options = new Map(live.options.map((option) => [option.label, option]));
    // Inside an attribute or a key, the cell's variable names have no place.
    const from = context.pos - live.typed;
    if (local && local.from === from && !/[.["']/.test(before[from - 1] ?? "")) {
      for (const option of local.options) {
        if (!options.has(option.label)) options.set(option.label, option);
      }
    }
    if (options.size === 0) return null;
    return { from, options: [...options.values()], validFor: VALID };
  };
}
