/** What was done to a notebook's cells, to be taken back step by step. */

const KEPT = 100;

export class History {
  /** @type {(() => boolean | void)[][]} */
  #steps = [];
  /** @type {(() => boolean | void)[] | null} */
  #group = null;
  #undoing = false;

  /** Something was done: `undo` takes it back, or returns false where somebody did already. */
  record(undo) {
    if (this.#undoing) return;
    if (this.#group) this.#group.push(undo);
    else this.#steps.push([undo]);
    this.#steps.splice(0, this.#steps.length - KEPT);
  }

  /** All that `act` does is one step. */
  together(act) {
    this.#group = [];
    try {
      act();
    } finally {
      const group = this.#group;
      this.#group = null;
      if (group.length > 0) this.#steps.push(group);
    }
  }

  /** Take back the last step that still stands. */
  undo() {
    this.#undoing = true;
    try {
      let step;
      while ((step = this.#steps.pop())) {
        const outcomes = step.reverse().map((undo) => undo());
        if (outcomes.some((outcome) => outcome !== false)) return;
      }
    } finally {
      this.#undoing = false;
    }
  }
}
