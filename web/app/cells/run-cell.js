/** Runs a code cell in a kernel. */
import { formatSeconds } from "../base/dom.js";
import { noteTheme } from "./figure-themes.js";

/** When a run of this group fails, the others are cancelled. */
const CELLS = "cells";

/**
 * Run `cell` in `kernel` after what is queued there. `changed()` is called when outputs change.
 * Resolves to whether it succeeded, whether it ran to an end, and how it ended, in words.
 * @param {import("./cell.js").Cell} cell
 * @param {{run: (request: any) => Promise<any>, count: number}} kernel a KernelClient
 * @param {() => void} changed
 */
export async function runCell(cell, kernel, changed) {
  cell.setState("queued");
  try {
    const ending = await kernel.run({
      code: cell.source,
      group: CELLS,
      name: () => {
        kernel.count += 1;
        cell.begin(kernel.count, kernel);
        noteTheme(cell);
        changed();
        return `Cell ${kernel.count}`;
      },
      listener: (message) => {
        cell.receive(message);
        changed();
      },
    });
    cell.finish(ending);
    const text = ending.ok ? `Cell finished in ${formatSeconds(ending.seconds)}`
      : `Cell failed: ${ending.name}: ${ending.message}`;
    return { ok: ending.ok, began: true, text };
  } catch (error) {
    cell.abandon(error.message);
    return { ok: false, began: false, text: error.message };
  } finally {
    changed();
  }
}
