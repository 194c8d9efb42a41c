/** Signature and documentation at the cursor, on "(" and Shift+Tab. */
import { StateEffect, StateField } from "@codemirror/state";
import { EditorView, showTooltip } from "@codemirror/view";
import { element } from "../base/dom.js";
import { announce } from "../base/messages.js";

/** Its value is a tooltip, or null to hide it. */
const show = StateEffect.define();

const shown = StateField.define({
  create: () => null,
  update(value, transaction) {
    for (const effect of transaction.effects) if (effect.is(show)) return effect.value;
    if (value === null) return null;
    if (transaction.docChanged) return { ...value, pos: transaction.changes.mapPos(value.pos) };
    // The cursor moved elsewhere.
    return transaction.selection ? null : value;
  },
  provide: (field) => showTooltip.from(field),
});

function tooltip(pos, { signature, text }, whole) {
  const said = whole ? text : text.split("\n\n")[0];
  return {
    pos,
    // The full text is for reading; a signature must not hide the completions below.
    above: !whole,
    create() {
      const dom = element("div", { className: "documentation" },
        element("pre", { className: "documentation-signature" }, signature));
      if (said) dom.append(element("pre", { className: "documentation-text" }, said));
      dom.setAttribute("role", "tooltip");
      return { dom };
    },
  };
}

/** Ask `kernel` about the code at the cursor and show the answer. */
async function ask(view, kernel, whole) {
  const { state } = view;
  const place = state.selection.main.head;
  const found = await kernel.describe(state.sliceDoc(0, place), state.sliceDoc(place));
  if (view.state.doc !== state.doc || view.state.selection.main.head !== place) return;
  if (!found && !view.state.field(shown)) return;
  if (found && whole) announce(`${found.signature} ${found.text}`.slice(0, 500));
  view.dispatch({ effects: show.of(found && tooltip(place, found, whole)) });
}

/** Shift+Tab after code shows the documentation. At the beginning of a line it does nothing. */
export function documentationByTab(kernel) {
  return (view) => {
    const { main } = view.state.selection;
    const line = view.state.doc.lineAt(main.head);
    if (!main.empty || !view.state.sliceDoc(line.from, main.head).trim()) return false;
    void ask(view, kernel, true);
    return true;
  };
}

/** Hide the documentation. Returns false if there was none. */
export function hideDocumentation(view) {
  if (!view.state.field(shown, false)) return false;
  view.dispatch({ effects: show.of(null) });
  return true;
}

/** The editor's extension: asks on "(" and follows while arguments are typed. */
export function documentation(kernel) {
  return [shown, EditorView.updateListener.of(({ view, transactions, docChanged, state }) => {
    if (!docChanged || !transactions.some((one) => one.isUserEvent("input.type"))) return;
    const typed = state.sliceDoc(0, state.selection.main.head).slice(-1);
    if (typed === "(") void ask(view, kernel, false);
    else if (typed === ")" || typed === "\n") hideDocumentation(view);
  })];
}
