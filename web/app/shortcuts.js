/** The keys that work on a cell while its editor is left. */

const PAIR_MS = 700;

/** Listen on the notebook's `root`; `interrupt` and `restart` act on the kernel. */
export function commandKeys(root, notebook, { interrupt, restart }) {
  let previous = { key: "", time: 0 };

  const twice = (key, event) => {
    const again = previous.key === key && event.timeStamp - previous.time < PAIR_MS;
    previous = again ? { key: "", time: 0 } : { key, time: event.timeStamp };
    return again;
  };

  const onKey = (event) => {
    // Keys typed into an editor, a button or a link belong to it.
    if (!event.target.matches(".cell")) return;
    const cell = notebook.current;
    const { key } = event;
    const modified = event.ctrlKey || event.metaKey || event.altKey;
    const actions = {
      Enter: () => {
        if (event.shiftKey) void notebook.runAndMove(cell);
        else if (event.altKey) {
          void notebook.run(cell);
          notebook.insertAfter(cell).edit();
        } else if (event.ctrlKey || event.metaKey) void notebook.run(cell);
        else cell.edit();
      },
      ArrowUp: () => (event.altKey ? notebook.move(cell, -1) : notebook.focusNeighbour(-1)),
      ArrowDown: () => (event.altKey ? notebook.move(cell, +1) : notebook.focusNeighbour(+1)),
      ...(modified ? {} : {
        k: () => notebook.focusNeighbour(-1),
        j: () => notebook.focusNeighbour(+1),
        a: () => notebook.insertBefore(cell).focus(),
        b: () => notebook.insertAfter(cell).focus(),
        m: () => notebook.convert(cell, "markdown"),
        y: () => notebook.convert(cell, "code"),
        z: () => notebook.undoDelete(),
        d: () => twice("d", event) && notebook.delete(cell),
        i: () => twice("i", event) && interrupt(),
        0: () => twice("0", event) && restart(),
      }),
    };
    const action = actions[key];
    if (!action) return;
    event.preventDefault();
    action();
  };
  root.addEventListener("keydown", onKey);
}
