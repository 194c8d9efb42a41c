/** Common editor features: find and replace, line numbers, inserted lines, a cursor that no bar hides. */
import { openSearchPanel, search, searchKeymap, searchPanelOpen } from "@codemirror/search";
import { Compartment } from "@codemirror/state";
import { EditorView, ViewPlugin, keymap, lineNumbers } from "@codemirror/view";
import { settings } from "../base/settings.js";
import { covered } from "../base/view.js";

const gutters = new Compartment();

const wrapping = new Compartment();
const wrappingOfSettings = () => (settings.values.wraps ? EditorView.lineWrapping : []);

/** Applies changed settings to an editor. */
const followSettings = ViewPlugin.fromClass(class {
  #change;

  constructor(view) {
    this.#change = () => {
      view.dispatch({ effects: wrapping.reconfigure(wrappingOfSettings()) });
      view.requestMeasure(); // the font may have another size
    };
    settings.addEventListener("change", this.#change);
  }

  destroy() {
    settings.removeEventListener("change", this.#change);
  }
});

/** The extension of code editors that wraps lines if the settings say so. */
export const wrapsBySettings = () => [wrapping.of(wrappingOfSettings()), followSettings];

/** Shows the beginning of long lines again when the cursor leaves the editor. */
const showBeginning = EditorView.domEventHandlers({
  blur: (_event, view) => {
    view.scrollDOM.scrollLeft = 0;
  },
});

/**
 * Inserts text of several lines, as from a phone's keyboard, as one change. Chromium inserts each line
 * on its own, which takes minutes for 5,000 lines.
 */
const insertLinesAtOnce = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    const { inputType, data, cancelable } = event;
    if (inputType !== "insertText" || !cancelable || !/[^]\n|\n[^]/.test(data ?? "")) return false;
    if (!view.state.readOnly) {
      view.dispatch(view.state.replaceSelection(data), { scrollIntoView: true, userEvent: "input.paste" });
    }
    return true;
  },
});

/** The extensions of every editor. */
export const editorHabits = [
  search({ top: true }),
  keymap.of(searchKeymap),
  gutters.of([]),
  EditorView.scrollMargins.of(covered),
  showBeginning,
  insertLinesAtOnce,
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
