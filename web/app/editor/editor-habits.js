/** Common editor features: find and replace, line numbers, a cursor that no bar hides. */
import { openSearchPanel, search, searchKeymap, searchPanelOpen } from "@codemirror/search";
import { Compartment } from "@codemirror/state";
import { EditorView, keymap, lineNumbers } from "@codemirror/view";
import { covered } from "../base/view.js";

const gutters = new Compartment();

/** The extensions of every editor. */
export const editorHabits = [
  search({ top: true }),
  keymap.of(searchKeymap),
  gutters.of([]),
  EditorView.scrollMargins.of(covered),
];

export function setLineNumbers(view, shown) {
  view.dispatch({ effects: gutters.reconfigure(shown ? lineNumbers() : []) });
}

export function openSearch(view) {
  openSearchPanel(view);
}

/** Whether Escape should close a search panel before leaving the editor. */
export function isSearching({ state }) {
  return searchPanelOpen(state);
}
