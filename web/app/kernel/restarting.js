/** Asks before a kernel is started anew, where Python's variables would be lost. */

export class Restarting {
  #kernel;
  #dialog;
  #confirm;
  #act = () => {};

  /** `dialog` asks; `confirm` is its button that says yes. */
  constructor(kernel, { dialog, confirm }) {
    this.#kernel = kernel;
    this.#dialog = dialog;
    this.#confirm = confirm;
    dialog.addEventListener("submit", ({ submitter }) => {
      if (submitter === confirm) this.#act();
    });
  }

  /** Do what restarts the kernel; `label` is what it is called. */
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
