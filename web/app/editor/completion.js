/** Completion for the editor, from the live interpreter, or from cached names while it is busy. */
import {
  CompletionContext, acceptCompletion, closeCompletion, insertCompletionText, pickedCompletion,
  startCompletion,
} from "@codemirror/autocomplete";
import { globalCompletion, localCompletionSource } from "@codemirror/lang-python";
import { settings } from "../base/settings.js";
import { StaticNames } from "./static-names.js";

const VALID = /^\w*$/;

function trigger(context) {
  return context.explicit || settings.values.completes
    && context.matchBefore(/[\w.]$|\[["'][^"'\]]*$|\bimport $|\bfrom $|^\s*%%?\w*$/);
}

/** Return a CodeMirror completion source that asks `kernel` and never waits for a busy one. */
export function completionSource(kernel) {
  const names = new StaticNames(kernel);
  return async (context) => {
    if (!trigger(context)) return null;
    const before = context.state.sliceDoc(0, context.pos);
    const live = await kernel.complete(before, context.state.sliceDoc(context.pos));
    const { typed, options: first } = live ?? names.complete(before);
    const from = context.pos - typed;
    const options = new Map(first.map((option) => [option.label, option]));
    // Inside an attribute or a key, the cell's variable names do not apply.
    if (!/[.["']/.test(before[from - 1] ?? "")) {
      const more = live ? [localCompletionSource] : [localCompletionSource, globalCompletion];
      for (const source of more) {
        const found = await source(context);
        for (const option of found?.from === from ? found.options : []) {
          if (!options.has(option.label)) options.set(option.label, option);
        }
      }
    }
    if (options.size === 0) return null;
    return { from, options: [...options.values()], validFor: VALID };
  };
}

/**
 * Tab after a word, however fast it was typed: accept the selected or the only option, or open the
 * list.
 */
export function completeByTab(source) {
  return (view) => {
    if (acceptCompletion(view)) return true;
    const { main } = view.state.selection;
    if (!main.empty || !/[\w.%'"]$/.test(view.state.sliceDoc(0, main.head).slice(-1))) return false;
    void completeAt(view, main.head, source);
    return true;
  };
}

async function completeAt(view, place, source) {
  const { state } = view;
  const found = await source(new CompletionContext(state, place, true, view));
  // The user typed on or left.
  if (view.state.doc !== state.doc || view.state.selection.main.head !== place) return;
  const typed = state.sliceDoc(found?.from ?? place, place);
  const fitting = found?.options.filter(({ label }) => label.startsWith(typed)) ?? [];
  if (fitting.length === 1) {
    closeCompletion(view);
    view.dispatch({
      ...insertCompletionText(view.state, fitting[0].label, found.from, place),
      annotations: pickedCompletion.of(fitting[0]),
    });
  } else if (found) startCompletion(view);
}
