/** Whether its reader trusts a notebook: then its outputs act, in frames of their own. */
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

  /** Call `act` when the notebook comes to be trusted. */
  whenGiven(act) {
    this.#waiting.push(act);
  }

  give() {
    this.#given = true;
    for (const act of this.#waiting.splice(0)) act();
  }
}
