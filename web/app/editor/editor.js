/** The code editor of a cell: CodeMirror with Python, completion and the notebook's keys. */
import {
  autocompletion, closeBrackets, closeBracketsKeymap, closeCompletion,
  completionKeymap, completionStatus,
} from "@codemirror/autocomplete";
import {
  defaultKeymap, history, historyKeymap, indentLess, indentMore,
} from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import {
  HighlightStyle, bracketMatching, indentOnInput, indentUnit, syntaxHighlighting,
} from "@codemirror/language";
import { EditorState, Prec } from "@codemirror/state";
import { EditorView, drawSelection, highlightSpecialChars, keymap } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { completeByTab } from "./completion.js";
import { documentation, documentationByTab, hideDocumentation } from "./documentation.js";
import { editorHabits, isSearching, wrapsBySettings } from "./editor-habits.js";

// Colours are CSS variables, so light and dark mode follow the system automatically.
export const codeColours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: "var(--code-keyword)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--code-string)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--code-number)" },
  { tag: tags.comment, color: "var(--code-comment)", fontStyle: "italic" },
  {
    tag: [tags.function(tags.variableName), tags.function(tags.definition(tags.variableName))],
    color: "var(--code-function)",
  },
  { tag: [tags.className, tags.definition(tags.className)], color: "var(--code-class)" },
  { tag: [tags.meta, tags.annotation], color: "var(--code-meta)" },
  { tag: tags.self, color: "var(--code-keyword)" },
]);

const atStart = ({ state }) => state.doc.lineAt(state.selection.main.head).number === 1;
const atEnd = ({ state }) =>
  state.doc.lineAt(state.selection.main.head).number === state.doc.lines;

function notebookKeys({ run, runAndMove, runAndInsert, leave, goUp, goDown, split }) {
  const always = (action) => (view) => {
    // A list that arrives late must not open over a cell that was left.
    closeCompletion(view);
    action();
    return true;
  };
  const without = (action, condition) => (view) => {
    if (completionStatus(view.state) === "active" || !condition(view)) return false;
    return action() !== false;
  };
  return Prec.highest(keymap.of([
    { key: "Shift-Enter", run: always(runAndMove) },
    { key: "Mod-Enter", run: always(run) },
    { key: "Ctrl-Enter", run: always(run) },
    { key: "Alt-Enter", run: always(runAndInsert) },
    { key: "Ctrl-Shift--", run: always(split) },
    { key: "Escape", run: hideDocumentation },
    { key: "Escape", run: without(leave, (view) => !isSearching(view)) },
    { key: "ArrowUp", run: without(goUp, atStart) },
    { key: "ArrowDown", run: without(goDown, atEnd) },
  ]));
}

/** In text, Tab only indents. */
const tabs = ({ complete, kernel }) => keymap.of([
  { key: "Tab", run: completeByTab(complete), shift: documentationByTab(kernel) },
]);

/**
 * Create an editor in `parent`. `type` is the cell's, and `keys` are its actions. `help` has
 * `complete`, a CodeMirror completion source, and `kernel`, which answers requests for
 * documentation.
 */
export function createEditor({
  parent, doc, type, label, keys, help, onChange, readOnly = false,
}) {
  const code = type === "code";
  return new EditorView({
    parent,
    state: EditorState.create({
      doc,
      extensions: [
        notebookKeys(keys),
        history(),
        drawSelection(),
        highlightSpecialChars(),
        EditorState.allowMultipleSelections.of(true),
        indentUnit.of("    "),
        EditorState.tabSize.of(4),
        EditorState.readOnly.of(readOnly),
        code ? [
          wrapsBySettings(), python(), indentOnInput(), bracketMatching(), closeBrackets(),
          autocompletion({ override: [help.complete], icons: true }),
          Prec.high(tabs(help)), documentation(help.kernel),
          keymap.of([...closeBracketsKeymap, ...completionKeymap]),
        ] : EditorView.lineWrapping,
        syntaxHighlighting(codeColours),
        editorHabits,
        keymap.of([{ key: "Tab", run: indentMore, shift: indentLess }]),
        keymap.of([...historyKeymap, ...defaultKeymap]),
        EditorView.contentAttributes.of({
          "aria-label": label,
          spellcheck: code ? "false" : "true",
          // Tab indents here, so Tab must not lead into the editor. Enter on the cell does.
          tabindex: "-1",
        }),
        EditorView.updateListener.of(({ docChanged }) => {
          if (docChanged) onChange();
        }),
      ],
    }),
  });
}
