/** Confirmation before a restart that would lose Python's variables. */

export class Restarting {
  #kernel;
  #dialog;
  #confirm;
  #act = () => {};

  /** `dialog` asks, and `confirm` is its button to agree. */
  constructor(kernel, { dialog, confirm }) {
    this.#kernel = kernel;
    this.#dialog = dialog;
    this.#confirm = confirm;
    dialog.addEventListener("submit", ({ submitter }) => {
      if (submitter === confirm) this.#act();
    });
  }

  /** Ask if needed, then call `act`, which restarts the kernel. `label` names the action. */
  ask(label, act) {
    if (!this.#kernel.hasRun) {
      act();
      return;
    }
    this.#act = act;
    this.#confirm.textContent = label;
    this.#dialog.showModal();
  }
}
