/** The status bar's account of several kernels: whose is shown, and what the others do. */

const WORKING = new Set(["busy", "interrupting", "loading"]);

/**
 * Tell in `owner` whose kernel the status bar shows, and on the button `others` what the other
 * kernels of the tab do. Both are empty while there is one. `titleOf(id)` names a notebook.
 */
export function showOtherKernels(kernels, { owner, others, titleOf, titleShown }) {
  const show = () => {
    const ids = kernels.others;
    const working = ids.filter((id) => WORKING.has(kernels.stateOf(id)));
    owner.textContent = ids.length > 0 ? `Kernel of “${titleShown()}”` : "";
    others.hidden = ids.length === 0;
    if (ids.length === 0) return;
    const idle = ids.length - working.length;
    const parts = [
      working.length === 1 ? `“${titleOf(working[0])}” runs`
        : working.length > 1 && `${working.length} other notebooks run`,
      idle > 0 && `${idle} idle ${idle === 1 ? "kernel" : "kernels"}`,
    ];
    others.textContent = parts.filter(Boolean).join(", ");
    others.title = `${ids.map(titleOf).join(", ")}: show the notebooks and end their kernels`;
  };
  // When a notebook is left, its title is known after its kernel.
  kernels.addEventListener("change", () => queueMicrotask(show));
}
