/** The reader's trust in a notebook, which lets its outputs run in frames. */
export class Trust {
  #given;
  /** @type {(() => void)[]} */
  #waiting = [];

  constructor(given = false) {
    this.#given = given;
  }

  get isGiven() {
    return this.#given;
  }

  /** Call `act` when the notebook becomes trusted. */
  whenGiven(act) {
    this.#waiting.push(act);
  }

  give() {
    this.#given = true;
    for (const act of this.#waiting.splice(0)) act();
  }
}
