/** The command palette: all commands by name. */
import { element } from "../base/dom.js";
import { announce } from "../base/messages.js";

/** @typedef {{label: string, keys?: string, run: () => unknown}} Command */

/** Return the commands with all words in their names, those that begin with the first word first. */
function matching(commands, words) {
  const found = commands.filter(({ label }) =>
    words.every((word) => label.toLowerCase().includes(word)));
  const begins = ({ label }) => label.toLowerCase().startsWith(words[0] ?? "");
  return [...found.filter(begins), ...found.filter((one) => !begins(one))];
}

/**
 * Return a function that opens the palette.
 * @param {{dialog: HTMLDialogElement, field: HTMLInputElement, list: HTMLElement}} parts
 * @param {Command[]} commands
 */
export function commandPalette({ dialog, field, list }, commands) {
  let selected = 0;
  const rows = () => [...list.querySelectorAll('[role="option"]')];
  const select = (index) => {
    const all = rows();
    selected = all.length === 0 ? 0 : (index + all.length) % all.length;
    all.forEach((row, at) => row.setAttribute("aria-selected", String(at === selected)));
    all[selected]?.scrollIntoView({ block: "nearest" });
    if (all[selected]) field.setAttribute("aria-activedescendant", all[selected].id);
    else field.removeAttribute("aria-activedescendant");
  };
  const run = (command) => {
    dialog.close();
    command.run();
  };
  const fill = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    list.replaceChildren(...matching(commands, words).map((command, n) => {
      const row = element("li", { id: `command-${n}` }, element("span", {}, command.label),
        element("kbd", {}, command.keys ?? ""));
      row.setAttribute("role", "option");
      row.addEventListener("click", () => run(command));
      return row;
    }));
    select(0);
    if (list.childElementCount === 0) announce(list.dataset.none);
  };
  field.addEventListener("input", fill);
  dialog.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") select(selected + 1);
    else if (event.key === "ArrowUp") select(selected - 1);
    else if (event.key === "Enter") /** @type {HTMLElement} */ (rows()[selected])?.click();
    else return;
    event.preventDefault();
  });
  return () => {
    field.value = "";
    fill();
    dialog.showModal();
  };
}

/** Return the commands of the page (`actions`), its cells and its finder. */
export function commandsOf(actions, cells, notebook, finder) {
  /** @type {[label: string, keys: string, run: () => unknown][]} */
  const table = [
    ["Run cell and move on", "Shift Enter", actions.run],
    ["Run all cells", "", actions["run-all"]],
    ["Run all above selected cell", "", actions["run-above"]],
    ["Run selected cell and all below", "", actions["run-below"]],
    ["Interrupt", "I I", actions.interrupt],
    ["Restart kernel", "0 0", actions.restart],
    ["Restart and run all", "", actions["restart-and-run-all"]],
    ["Find and replace in notebook", "Ctrl Shift F", () => finder.open()],
    ["Find and replace in cell", "F", () => cells.find()],
    ["Add code cell below", "B", actions["add-code"]],
    ["Add text cell below", "", actions["add-markdown"]],
    ["Cut cells", "X", () => cells.cut()],
    ["Copy cells", "C", () => cells.copy()],
    ["Paste cells below", "V", () => cells.paste(+1)],
    ["Delete cells", "D D", () => cells.delete()],
    ["Merge cells", "Shift M", () => cells.merge()],
    ["Split cell at cursor", "Ctrl Shift -", () => cells.split(notebook.current)],
    ["Move cells up", "Alt ↑", () => cells.move(-1)],
    ["Move cells down", "Alt ↓", () => cells.move(+1)],
    ["Change cells to code", "Y", () => cells.convert("code")],
    ["Change cells to text", "M", () => cells.convert("markdown")],
    ["Undo changes to cells", "Z", () => notebook.history.undo()],
    ["Fold or show output", "O", () => cells.fold()],
    ["Fold or show cells under heading", "", () => cells.section()],
    ["Line numbers in all cells", "Shift L", () => cells.lineNumbers({ all: true })],
    ["Clear outputs", "", actions["clear-outputs"]],
    ["New notebook", "", actions.new],
    ["Open notebook file", "", actions.open],
    ["Notebooks in this browser", "", actions.kept],
    ["Save", "Ctrl S", actions.save],
    ["Copy link", "", actions["copy-link"]],
    ["Download notebook", "", actions.download],
    ["Download page with outputs", "", actions["download-page"]],
    ["Copy files to Python", "", actions["pick-files"]],
    ["Tour", "", actions.tour],
    ["Gallery", "", actions.gallery],
    ["Documentation", "", actions.docs],
    ["Settings: theme, font size, completion, word wrap", "", actions.settings],
    ["Keyboard shortcuts", "H", actions.help],
  ];
  return table.map(([label, keys, run]) => ({ label, keys, run }));
}
