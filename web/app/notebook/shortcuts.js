/** Keys that act on a cell outside of its editor. */

const PAIR_MS = 700;
const LEVELS = [1, 2, 3, 4, 5, 6];

/**
 * Listen on the notebook's `root`. `cells` are its CellCommands; the rest acts on kernel and page.
 */
export function commandKeys(root, notebook, { cells, selection, interrupt, restart, help, save, palette }) {
  let previous = { key: "", time: 0 };

  const twice = (key, event) => {
    const again = previous.key === key && event.timeStamp - previous.time < PAIR_MS;
    previous = again ? { key: "", time: 0 } : { key, time: event.timeStamp };
    return again;
  };

  const go = (step, { altKey, ctrlKey, metaKey, shiftKey }) => {
    if (altKey || ((ctrlKey || metaKey) && shiftKey)) cells.move(step);
    else if (shiftKey) selection.extend(step);
    else notebook.focusNeighbour(step);
  };

  const onKey = (event) => {
    // Keys typed in an editor, a button or a link belong to it.
    if (!event.target.matches(".cell")) return;
    const cell = notebook.current;
    const { key } = event;
    if (key !== previous.key) previous = { key: "", time: 0 };
    const modified = event.ctrlKey || event.metaKey || event.altKey;
    const actions = {
      Enter: () => {
        if (event.shiftKey) cells.runAndMove();
        else if (event.altKey) cells.runAndInsert();
        else if (event.ctrlKey || event.metaKey) cells.run();
        else cell.edit();
      },
      ArrowUp: () => go(-1, event),
      ArrowDown: () => go(+1, event),
      // The result of Shift and "-" depends on the keyboard.
      ...(event.ctrlKey && event.shiftKey && (key === "_" || key === "-")
        ? { [key]: () => cells.split(cell) } : {}),
      ...(event.ctrlKey || event.metaKey ? { a: () => selection.all() } : {}),
      ...(modified ? {} : {
        k: () => notebook.focusNeighbour(-1),
        j: () => notebook.focusNeighbour(+1),
        K: () => selection.extend(-1),
        J: () => selection.extend(+1),
        a: () => notebook.insertBefore(cell).focus(),
        b: () => notebook.insertAfter(cell).focus(),
        c: () => cells.copy(),
        x: () => cells.cut(),
        v: () => cells.paste(+1),
        V: () => cells.paste(-1),
        M: () => cells.merge(),
        m: () => cells.convert("markdown"),
        y: () => cells.convert("code"),
        r: () => cells.convert("raw"),
        l: () => cells.lineNumbers(),
        L: () => cells.lineNumbers({ all: true }),
        o: () => cells.fold(),
        f: () => cells.find(),
        p: () => palette(),
        h: () => help(),
        s: () => save(),
        z: () => notebook.history.undo(),
        d: () => twice("d", event) && cells.delete(),
        i: () => twice("i", event) && interrupt(),
        0: () => twice("0", event) && restart(),
        ...Object.fromEntries(LEVELS.map((level) => [level, () => cells.heading(level)])),
      }),
    };
    const action = actions[key];
    if (!action) return;
    event.preventDefault();
    action();
  };
  root.addEventListener("keydown", onKey);
}
