import { History } from "./history.js";
import { SavedWidgets, withStates } from "../cells/saved-widgets.js";
import { Trust } from "../content/trust.js";

/** The cells of one notebook. After it was left, it still receives outputs of its running cells. */
export class Sheet {
  metadata;
  /** The format details of the notebook's file, for ipynb.js. */
  shape;
  /** The reader's trust in active outputs. */
  trust;
  /** The widgets of the notebook's file. */
  saved;
  /** @type {import("../cells/cell.js").Cell[]} */
  cells;
  /**
   * @type {{index: number, cell: import("../cells/cell.js").Cell}[]} deleted cells that can be
   *   restored
   */
  deleted = [];
  /**
   * The kernel that runs its cells.
   * @type {import("../kernel/kernel-client.js").KernelClient | null}
   */
  kernel = null;
  /** The undo history of its cells. */
  history = new History();
  /** @type {Set<Promise<unknown>>} */
  #runs = new Set();

  constructor({ metadata, shape = {}, trust = new Trust(), saved = new SavedWidgets(metadata, trust) }, cells) {
    this.metadata = metadata;
    this.shape = shape;
    this.trust = trust;
    this.saved = saved;
    this.cells = cells;
  }

  /** The notebook as ipynb.js expects it. */
  get model() {
    const { metadata, shape, cells } = this;
    const states = Object.assign({}, ...cells.map((cell) => cell.widgetStates));
    return { metadata: withStates(metadata, states), shape, cells: cells.map((cell) => cell.model) };
  }

  /** Note that a cell is running until `run` settles. */
  track(run) {
    this.#runs.add(run);
    const end = () => this.#runs.delete(run);
    run.then(end, end);
  }

  get isBusy() {
    return this.#runs.size > 0;
  }

  /** Wait until no cell is running. */
  async settled() {
    while (this.isBusy) await Promise.allSettled(this.#runs);
  }

  destroy() {
    for (const cell of this.cells) cell.destroy();
    for (const { cell } of this.deleted) cell.destroy();
  }
}
