/** Undo history of a notebook's cells. */

const KEPT = 100;

export class History {
  /** @type {(() => boolean | void)[][]} */
  #steps = [];
  /** @type {(() => boolean | void)[] | null} */
  #group = null;
  #undoing = false;

  /** Record a change. `undo` reverts it, or returns false if it was reverted already. */
  record(undo) {
    if (this.#undoing) return;
    if (this.#group) this.#group.push(undo);
    else this.#steps.push([undo]);
    this.#steps.splice(0, this.#steps.length - KEPT);
  }

  /** Record everything that `act` does as one step. */
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

  /** Undo the last step that can still be undone. */
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
