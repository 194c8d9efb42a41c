import { History } from "./history.js";
import { Trust } from "../content/trust.js";

/** The cells of one notebook. One that is left goes on taking what its running cells put out. */
export class Sheet {
  metadata;
  /** How the notebook's file was written, for ipynb.js. */
  shape;
  /** The reader's trust in what the outputs would do. */
  trust;
  /** @type {import("../cells/cell.js").Cell[]} */
  cells;
  /** @type {{index: number, cell: import("../cells/cell.js").Cell}[]} what was deleted and can come back */
  deleted = [];
  /** What was done to its cells. */
  history = new History();
  /** @type {Set<Promise<unknown>>} */
  #runs = new Set();

  constructor({ metadata, shape = {}, trust = new Trust() }, cells) {
    this.metadata = metadata;
    this.shape = shape;
    this.trust = trust;
    this.cells = cells;
  }

  /** The notebook as ipynb.js takes it. */
  get model() {
    const { metadata, shape, cells } = this;
    return { metadata, shape, cells: cells.map((cell) => cell.model) };
  }

  /** A cell of it runs until `run` settles. */
  track(run) {
    this.#runs.add(run);
    const end = () => this.#runs.delete(run);
    run.then(end, end);
  }

  get isBusy() {
    return this.#runs.size > 0;
  }

  /** Wait until no cell of it runs any more. */
  async settled() {
    while (this.isBusy) await Promise.allSettled(this.#runs);
  }

  destroy() {
    for (const cell of this.cells) cell.destroy();
    for (const { cell } of this.deleted) cell.destroy();
  }
}
