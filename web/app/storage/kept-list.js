/** The dialog that lists the notebooks stored in the browser. */
import { element, formatBytes } from "../base/dom.js";
import { showMessage } from "../base/messages.js";
import { DELETED_DAYS } from "./shelf.js";

const KERNELS = {
  loading: "its kernel starts", idle: "its kernel is idle", busy: "its kernel runs",
  interrupting: "its kernel runs",
};
const PLACES = { here: "open here", elsewhere: "open in another tab" };

function moment(time) {
  return new Date(time).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}

/** A button for one notebook, titled with its name, so that every row differs. */
function action(label, title, run, disabled = false) {
  const button = element("button", { type: "button", disabled }, label);
  button.setAttribute("aria-label", `${label} “${title}”`);
  button.addEventListener("click", run);
  return button;
}

export class KeptList {
  #dialog;
  #list;
  #deleted;
  #undo;
  #shelf;

  /** `found` has the dialog's elements in index.html, by their `data-ref`. */
  constructor(found, shelf) {
    this.#dialog = found["kept-dialog"];
    this.#list = found["kept-list"];
    this.#deleted = found["kept-deleted"];
    this.#undo = found["kept-undo"];
    this.#shelf = shelf;
  }

  async show() {
    this.#undo.replaceChildren();
    if (await this.#fill()) this.#dialog.showModal();
  }

  async #fill() {
    const focused = document.activeElement?.getAttribute("aria-label");
    try {
      const all = await this.#shelf.list();
      const [kept, deleted] = [false, true].map((gone) => all.filter((one) => !!one.deleted === gone));
      this.#list.replaceChildren(...kept.map((one) => this.#row(one)));
      this.#deleted.hidden = deleted.length === 0;
      this.#deleted.querySelector("ul").replaceChildren(...deleted.map((one) => this.#deletedRow(one)));
      this.#focusAgain(focused);
      return true;
    } catch (error) {
      this.#explain(error);
      return false;
    }
  }

  /** Focus the same button in the new rows, or the list. */
  #focusAgain(label) {
    if (!this.#dialog.open || this.#dialog.contains(document.activeElement)) return;
    const buttons = [...this.#dialog.querySelectorAll("button:not(:disabled)")];
    (buttons.find((one) => one.getAttribute("aria-label") === label) ?? buttons[0]).focus();
  }

  #row(record) {
    const { id, saved, size, open, kernel } = record;
    const title = record.title || "untitled";
    const elsewhere = open === "elsewhere";
    const name = element("button", { type: "button", className: "link", disabled: elsewhere }, title);
    name.addEventListener("click", () => {
      this.#dialog.close();
      void this.#shelf.open(id);
    });
    const ofKernel = open === "here" ? "" : KERNELS[kernel];
    const about = [moment(saved), formatBytes(size), PLACES[open], ofKernel].filter(Boolean).join(" · ");
    const end = action("End kernel", title, () => this.#do(() => this.#shelf.endKernel(id)));
    end.title = "Its variables are lost; the notebook stays";
    const row = element("li", {}, name, element("span", { className: "kept-about" }, about),
      element("span", { className: "kept-actions" },
        ...(ofKernel ? [end] : []),
        action("Rename", title, () => this.#rename(row, record), elsewhere),
        action("Duplicate", title, () => this.#do(() => this.#shelf.duplicate(id))),
        action("Download", title, () => this.#do(() => this.#shelf.download(id))),
        action("Delete", title, () => this.#delete(id, title), elsewhere)));
    return row;
  }

  #deletedRow({ id, title, deleted }) {
    const about = `deleted ${moment(deleted)}, kept for ${DELETED_DAYS} days`;
    return element("li", {}, element("span", {}, title),
      element("span", { className: "kept-about" }, about),
      element("span", { className: "kept-actions" },
        action("Bring back", title, () => this.#do(() => this.#shelf.bringBack(id))),
        action("Delete for good", title, () => this.#do(() => this.#shelf.deleteForGood(id)))));
  }

  /** Turn the title into a field: Enter renames, Escape cancels. */
  #rename(row, { id, title }) {
    const field = element("input", { value: title, maxLength: 120, className: "kept-name" });
    field.setAttribute("aria-label", `New name of “${title}”`);
    let open = true;
    const end = (renamed) => {
      if (!open) return;
      open = false;
      const wanted = field.value.trim();
      if (renamed && wanted && wanted !== title) void this.#do(() => this.#shelf.rename(id, wanted));
      else void this.#fill();
    };
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== "Escape") return;
      event.preventDefault(); // Escape would close the dialog
      event.stopPropagation();
      end(event.key === "Enter");
    });
    field.addEventListener("blur", () => end(true));
    row.firstElementChild.replaceWith(field);
    field.select();
  }

  async #delete(id, title) {
    await this.#do(() => this.#shelf.delete(id));
    const undo = element("button", { type: "button" }, "Undo");
    undo.addEventListener("click", () => {
      this.#undo.replaceChildren();
      void this.#do(() => this.#shelf.bringBack(id));
    });
    this.#undo.replaceChildren(`“${title}” is deleted. `, undo);
    undo.focus();
  }

  async #do(work) {
    try {
      await work();
    } catch (error) {
      this.#explain(error);
    }
    await this.#fill();
  }

  #explain(error) {
    this.#dialog.close(); // messages are beneath it
    showMessage(`The action failed: ${error.message}.`, { kind: "error" });
  }
}
