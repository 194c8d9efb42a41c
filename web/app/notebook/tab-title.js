/** The title of the browser's tab: the notebook's name, and a mark while it runs or after a failure. */

const MARKS = { busy: "▶ ", interrupting: "▶ ", dead: "✗ " };

/** Keep the title. `name` is the input with the notebook's name. */
export function showTabTitle({ kernel, notebook, name }) {
  let failed = false;
  const show = () => {
    const mark = MARKS[kernel.state] ?? (failed ? "✗ " : "");
    document.title = `${mark}${name.value.trim() || "untitled"} · browsergpu`;
  };
  kernel.addEventListener("state", ({ detail: { state } }) => {
    if (state === "loading") failed = false;
    show();
  });
  notebook.addEventListener("ran", (event) => {
    failed = !event.detail.ok;
    show();
  });
  notebook.addEventListener("shown", () => {
    failed = false;
    show();
  });
  name.addEventListener("input", show);
  name.addEventListener("change", show);
  show();
}
